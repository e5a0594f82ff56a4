package mobile

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/zofl/zofl/client/enroll"
)

// pinStart is the beginning of each pin.
const pinStart = "sha256/"

var errPin = errors.New("no key of the server's certificates has a pin that AddPin named")

// AddPin adds a key. The server must have a certificate with one of the added keys: "sha256/" and,
// in base64, the SHA-256 of its SubjectPublicKeyInfo, as in Android's network security
// configuration. The key belongs to the server or to an authority above it; name a second key that
// you keep in reserve. Pins come in addition to the other checks: the system's authorities, SetCA,
// SetTrust, Enroll. The pin of a certificate in PEM:
//
//	openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der |
//		openssl dgst -sha256 -binary | base64
func (c *Config) AddPin(pin string) (err error) {
	defer guard(&err)
	text, ok := strings.CutPrefix(pin, pinStart)
	sum, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(sum) != sha256.Size {
		return faultf(CodeConfig, "AddPin: %.80q is no pin: give %q and 44 characters of base64, the "+
			"SHA-256 of a key", pin, pinStart)
	}
	c.keys = append(c.keys, [sha256.Size]byte(sum))
	return nil
}

// pinned returns an error unless the server has proved that it has a pinned key. chains are the
// chains that crypto/tls verified, or nil if crypto/tls verified none. A certificate that the
// server sent, but that is in no verified chain, proves nothing.
func (c *Config) pinned(list []*x509.Certificate, chains [][]*x509.Certificate, host string) error {
	if len(c.keys) == 0 || c.hasKey(list[0]) ||
		slices.ContainsFunc(slices.Concat(chains...), c.hasKey) {
		return nil
	}
	for _, authority := range list[1:] {
		if c.hasKey(authority) && enroll.Verify(list, sha256.Sum256(authority.Raw), host) == nil {
			return nil
		}
	}
	return errPin
}

// hasKey says whether a certificate's key is pinned.
func (c *Config) hasKey(of *x509.Certificate) bool {
	return slices.Contains(c.keys, sha256.Sum256(of.RawSubjectPublicKeyInfo))
}
