package mobile

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"strings"

	"github.com/zofl/zofl/client/enroll"
)

// A verifier decides whether to accept the certificates of the servers of a Config.
type verifier struct {
	*Config
	ctx   context.Context // of Run
	trust *truster
}

// ownTLS says whether the Config has TLS settings of its own: authorities, a Trust or pins.
func (c *Config) ownTLS() bool {
	return c.roots != nil || c.pin != nil || c.asksTrust || len(c.keys) > 0
}

// tls returns the TLS settings of a connection.
func (v *verifier) tls() *tls.Config {
	t := &tls.Config{RootCAs: v.roots, MinVersion: tls.VersionTLS12}
	// crypto/tls cannot verify certificates if the app decides, or if only the authority's fingerprint
	// is known.
	t.InsecureSkipVerify = v.asksTrust || v.pin != nil
	if t.InsecureSkipVerify || len(v.keys) > 0 {
		t.VerifyConnection = v.verify
	}
	return t
}

// verify checks the certificates of a server.
func (v *verifier) verify(s tls.ConnectionState) error {
	host, err := v.host(&s)
	if err == nil {
		err = v.trusted(&s, host)
	}
	if err == nil {
		err = v.pinned(s.PeerCertificates, s.VerifiedChains, host)
	}
	if err == nil {
		return nil
	}
	return &tls.CertificateVerificationError{UnverifiedCertificates: s.PeerCertificates, Err: err}
}

// host returns the server of the Config that owns the first certificate. For a server with an IP
// address s.ServerName is empty, because the TLS greeting has no IP address.
func (v *verifier) host(s *tls.ConnectionState) (string, error) {
	var err error = x509.HostnameError{Certificate: s.PeerCertificates[0], Host: s.ServerName}
	for _, u := range v.servers {
		name := u.Hostname()
		if s.ServerName != "" && s.ServerName != strings.TrimSuffix(name, ".") {
			continue
		}
		if err = s.PeerCertificates[0].VerifyHostname(name); err == nil {
			return name, nil
		}
	}
	return "", err
}

// trusted checks that the certificates come from an authority of the Config, if crypto/tls has not
// done so.
func (v *verifier) trusted(s *tls.ConnectionState, host string) error {
	switch {
	case v.asksTrust:
		return v.trust.ask(v.ctx, &Chain{host, s.PeerCertificates})
	case v.pin == nil:
		return nil
	}
	return enroll.Verify(s.PeerCertificates, [sha256.Size]byte(v.pin), host)
}
