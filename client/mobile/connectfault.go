package mobile

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"

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
		plain       tls.RecordHeaderError
		name        x509.HostnameError
	)
	return errors.As(err, &certificate) || alerted(err) || errors.As(err, &plain) || errors.As(err, &name)
}

// alerted says whether a side ended TLS by an alert: a server that asks for a
// certificate or speaks no version that this one takes. Of crypto/tls's error only what
// it wraps its alert in is exported.
func alerted(err error) bool {
	op := (*net.OpError)(nil)
	return errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
}
