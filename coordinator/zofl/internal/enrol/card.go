package enrol

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net/url"

	"github.com/nats-io/jwt/v2"

	"github.com/zofl/zofl/wire/signed"
)

// Creds returns the content of a creds file, followed by the authority's certificate. NATS
// libraries read the credentials, and TLS libraries read the certificate. If the coordinator signs,
// a line with its public key follows. In a coordinator's file, the private key comes before that
// line.
func (c *Card) Creds() ([]byte, error) {
	b, err := jwt.FormatUserConfig(c.JWT, c.Seed)
	if err != nil {
		return nil, err
	}
	b = append(append(append(b, '\n'), c.Authority...), c.Private...)
	keys, err := signed.ParseKeys(c.Coordinator)
	if err == nil && keys != nil {
		b = append(b, keys.CredsLine()+"\n"...)
	}
	return b, err
}

// Line returns the content of a card in one line of text, for a QR code:
//
//	zofl:?v=1&url=URL&run=RUN&id=NAME&ca=FINGERPRINT&seed=SEED&jwt=JWT
//
// The fingerprint is the SHA-256 of the authority's certificate (DER) in base64url without padding.
// The broker sends the authority's certificate after its own. If the coordinator signs, its public
// key follows as &key=KEY.
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
	if c.Coordinator != "" {
		line += "&key=" + url.QueryEscape(c.Coordinator)
	}
	return line, nil
}
