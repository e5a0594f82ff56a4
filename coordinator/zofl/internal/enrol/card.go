package enrol

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net/url"

	"github.com/nats-io/jwt/v2"
)

// Creds returns the content of a creds file, followed by the authority's certificate. NATS's
// libraries read the first part, and TLS's the second.
func (c *Card) Creds() ([]byte, error) {
	b, err := jwt.FormatUserConfig(c.JWT, c.Seed)
	if err != nil {
		return nil, err
	}
	return append(append(b, '\n'), c.Authority...), nil
}

// Line returns all of a card in one line of text, for a QR code:
//
//	zofl:?v=1&url=URL&run=RUN&id=NAME&ca=FINGERPRINT&seed=SEED&jwt=JWT
//
// The fingerprint is the SHA-256 of the authority's certificate (DER) in base64url without padding.
// The broker sends that certificate after its own.
func (c *Card) Line() (string, error) {
	block, _ := pem.Decode(c.Authority)
	if block == nil {
		return "", errors.New("no certificate in PEM")
	}
	sum := sha256.Sum256(block.Bytes)
	line := "zofl:?v=1"
	for _, part := range [][2]string{
		{"url", c.URL}, {"run", c.Run}, {"id", c.Name},
		{"ca", base64.RawURLEncoding.EncodeToString(sum[:])},
		{"seed", string(c.Seed)}, {"jwt", c.JWT},
	} {
		line += "&" + part[0] + "=" + url.QueryEscape(part[1])
	}
	return line, nil
}
