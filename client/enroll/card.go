// Package enroll reads the line that `zofl device add` prints for a device, and trusts the server
// that the line names.
package enroll

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/zofl/zofl/wire/signed"
)

// Start is the beginning of the line of `zofl device add --qr`.
const Start = "zofl:?"

// ErrVersion says that a later program version wrote the line.
var ErrVersion = errors.New("enroll: the line is for a later version")

// A Card is a device's place in a run. Keep it secret.
type Card struct {
	URL       string // server, such as tls://broker.example.org:4222
	Run, ID   string
	JWT, Seed string            // the user's
	Authority [sha256.Size]byte // fingerprint of the certificate that signs the server's certificate
	Key       string            // the coordinator's keys, see [signed.ParseKeys]; "": it has none
}

// Parse reads the line that `zofl device add NAME --qr` prints, with or without space around it.
// Errors of Parse do not contain the secrets of the line.
func Parse(line string) (*Card, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), Start)
	if !ok {
		return nil, fmt.Errorf("the line does not begin with %q: give the one that "+
			"`zofl device add NAME --qr` prints", Start)
	}
	parts, err := url.ParseQuery(rest)
	if err != nil { // the error's text contains a part of the line
		return nil, errors.New("the line is damaged: take it again")
	}
	if v := parts.Get("v"); v != "1" {
		return nil, fmt.Errorf("%w: version %.10q, and this program reads 1", ErrVersion, v)
	}
	c := &Card{Key: parts.Get("key")}
	for name, to := range map[string]*string{"url": &c.URL, "run": &c.Run, "id": &c.ID,
		"seed": &c.Seed, "jwt": &c.JWT} {
		if *to = parts.Get(name); *to == "" {
			return nil, fmt.Errorf("the line has no %s: take it again", name)
		}
	}
	pin, err := base64.RawURLEncoding.DecodeString(parts.Get("ca"))
	if err != nil || len(pin) != sha256.Size {
		return nil, fmt.Errorf("the line has no ca, or it is no fingerprint of %d bytes in "+
			"base64url: take the line again", sha256.Size)
	}
	copy(c.Authority[:], pin)
	if _, err := signed.ParseKeys(c.Key); err != nil {
		return nil, errors.New("key is no key of a coordinator: take the line again")
	}
	return c, nil
}
