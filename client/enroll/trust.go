package enroll

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
)

// ErrAuthority says that another authority than the line's signed the server's certificate.
var ErrAuthority = errors.New("the server's certificate is not of the authority of the line")

// TLS returns the settings of a connection to a server with one of these names or addresses. The
// authority with the given fingerprint must have signed the server's certificate. The server must
// send the authority's certificate after its own.
func TLS(authority [sha256.Size]byte, hosts ...string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		// The caller gives only the authority's fingerprint, so crypto/tls cannot verify the certificate.
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			err := verify(s, authority, hosts)
			if err == nil {
				return nil
			}
			return &tls.CertificateVerificationError{
				UnverifiedCertificates: s.PeerCertificates, Err: err}
		},
	}
}

// verify checks the certificates of a server with one of these names.
func verify(s tls.ConnectionState, authority [sha256.Size]byte, hosts []string) error {
	err := ErrAuthority
	for _, name := range hosts { // an IP address is in no TLS greeting: s.ServerName is empty
		if s.ServerName == "" || s.ServerName == name {
			if err = Verify(s.PeerCertificates, authority, name); err == nil {
				return nil
			}
		}
	}
	return err
}

// Verify checks that the authority with a fingerprint signed the first certificate of a list, for a
// server with this name or address. The authority's own certificate must be in the list: otherwise
// the error is [ErrAuthority].
func Verify(list []*x509.Certificate, authority [sha256.Size]byte, name string) error {
	at := slices.IndexFunc(list, func(ca *x509.Certificate) bool {
		return sha256.Sum256(ca.Raw) == authority
	})
	if at < 0 {
		return ErrAuthority
	}
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	roots.AddCert(list[at])
	for _, c := range list[1:] {
		between.AddCert(c)
	}
	_, err := list[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between,
		DNSName: name})
	return err
}
