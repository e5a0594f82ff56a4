package mobile

import (
	"crypto/tls"
	"crypto/x509"
	"errors"

	"github.com/nats-io/nats.go"
)

// connectCode returns the code of what a connection failed with.
func connectCode(err error) string {
	for _, refused := range []error{
		nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired,
		nats.ErrNkeysNotSupported, // it asks for no key, or another kind
	} {
		if errors.Is(err, refused) {
			return CodeUnauthorized
		}
	}
	switch f := (*fault)(nil); {
	case errors.As(err, &f):
		return f.code
	case errors.Is(err, nats.ErrPermissionViolation):
		return CodePermission
	case errors.Is(err, nats.ErrSecureConnWanted), errors.Is(err, nats.ErrSecureConnRequired), untrusted(err):
		return CodeTLS
	}
	return CodeOffline
}

// connectText is the text of what a connection failed with.
func connectText(err error) string {
	switch {
	case errors.Is(err, nats.ErrSecureConnWanted):
		return "the server offers no TLS: nothing was sent"
	case connectCode(err) == CodeUnauthorized:
		return err.Error() + ": the server does not take the credentials"
	}
	return err.Error()
}

// untrusted says whether a TLS handshake failed for what the other side is, not for
// the network.
func untrusted(err error) bool {
	var (
		certificate *tls.CertificateVerificationError
		alert       tls.AlertError
		plain       tls.RecordHeaderError
		name        x509.HostnameError
	)
	return errors.As(err, &certificate) || errors.As(err, &alert) || errors.As(err, &plain) || errors.As(err, &name)
}
