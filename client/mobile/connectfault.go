package mobile

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"

	"github.com/nats-io/nats.go"
)

// connectCode returns the code of a failed connection.
func connectCode(err error) string {
	for _, refused := range []error{
		nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired,
		nats.ErrNkeysNotSupported, // the server asks for no key, or for another kind
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
	case errors.Is(err, nats.ErrSecureConnWanted),
		errors.Is(err, nats.ErrSecureConnRequired), untrusted(err):
		return CodeTLS
	}
	return CodeOffline
}

// connectText returns the message of a failed connection.
func connectText(err error) string {
	switch {
	case errors.Is(err, nats.ErrSecureConnWanted):
		return "the server offers no TLS: nothing was sent"
	case connectCode(err) == CodeUnauthorized:
		return err.Error() + ": the server does not accept the credentials"
	}
	return err.Error()
}

// untrusted reports whether a TLS handshake failed because of what the server sent, not because of
// the network.
func untrusted(err error) bool {
	var (
		certificate *tls.CertificateVerificationError
		plain       tls.RecordHeaderError
		name        x509.HostnameError
	)
	return errors.As(err, &certificate) || alerted(err) || errors.As(err, &plain) ||
		errors.As(err, &name)
}

// alerted reports whether one side ended TLS with an alert: the server asks for a
// certificate, or the two have no version in common. crypto/tls does not export the alert
// itself, only the error around it.
func alerted(err error) bool {
	op := (*net.OpError)(nil)
	return errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
}
