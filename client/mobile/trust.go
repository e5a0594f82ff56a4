package mobile

import (
	"context"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"time"
)

// A Trust decides, instead of this library, whether the certificates of a server are trusted. With
// it an app can use Android's own decision: the authorities from updates, the authorities that the
// user added, and the app's network security configuration. In Kotlin, with the X.509 certificates
// of a chain:
//
//	val manager = X509TrustManagerExtensions(...)
//	config.setTrust { manager.checkServerTrusted(certificates(it), it.authType(), it.host()) }
type Trust interface {
	// Check returns an error, or throws an exception, unless a trusted authority has signed the chain.
	// This library checks the name of the host itself, and pins. One thread at a time calls Check,
	// never the app's main thread. It must return within 20 seconds.
	Check(chain *Chain) error
}

// A Chain is the certificates that a server sent.
type Chain struct {
	host string
	list []*x509.Certificate
}

// Len is the number of certificates, at least 1.
func (c *Chain) Len() int { return len(c.list) }

// Certificate returns a certificate in X.509's DER form; 0 is the server's own. It returns null if
// there is none of that number.
func (c *Chain) Certificate(i int) []byte {
	if i < 0 || i >= len(c.list) {
		return nil
	}
	return c.list[i].Raw
}

// Host is the name or address of the server that owns the first certificate.
func (c *Chain) Host() string { return c.host }

// AuthType is the argument authType of Java's X509TrustManager: "ECDHE_RSA", "ECDHE_ECDSA", or
// "UNKNOWN" for other keys.
func (c *Chain) AuthType() string {
	if len(c.list) == 0 {
		return "UNKNOWN"
	}
	switch c.list[0].PublicKey.(type) {
	case *rsa.PublicKey:
		return "ECDHE_RSA"
	case *ecdsa.PublicKey:
		return "ECDHE_ECDSA"
	}
	return "UNKNOWN"
}

// SetTrust sets the Trust that decides about the server's certificate; null: the system's
// authorities, as Go finds them. It replaces the settings of SetCA and Enroll.
func (c *Config) SetTrust(trust Trust) {
	c.callbacks.mu.Lock()
	defer c.callbacks.mu.Unlock()
	c.callbacks.trust, c.roots, c.pin = trust, nil, nil
	c.asksTrust = trust != nil
}

// trustWithin is how long a Trust may take: the time limit of the TLS handshake.
const trustWithin = dialWithin

var (
	errTrustSlow = errors.New("the app's Trust has not returned in time")
	errTrustBusy = errors.New("an earlier call of the app's Trust has not returned")
)

// A truster calls the app's Trust, one call at a time.
type truster struct {
	callbacks *callbacks
	within    time.Duration
	busy      chan struct{} // holds an element during a call
}

func newTruster(c *callbacks) *truster { return &truster{c, trustWithin, make(chan struct{}, 1)} }

// ask returns the app's decision on a chain. ask returns an error when ctx ends, or when the time
// is up.
func (t *truster) ask(ctx context.Context, chain *Chain) error {
	trust := held(t.callbacks, func() Trust { return t.callbacks.trust })
	if trust == nil {
		return errReleased
	}
	select {
	case t.busy <- struct{}{}:
	default:
		return errTrustBusy
	}
	ctx, cancel := context.WithTimeoutCause(ctx, t.within, errTrustSlow)
	defer cancel()
	answer := make(chan error, 1)
	go func() {
		defer func() { <-t.busy }()
		answer <- t.call(trust, chain)
	}()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t *truster) call(trust Trust, chain *Chain) (err error) {
	defer guard(&err)
	return said(trust.Check(chain))
}
