package mobile

import (
	"crypto/tls"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/zofl/zofl/coordinator/zofl/broker"
)

// An authority signs the certificates of a test's servers.
type authority struct {
	*broker.Authority
	t *testing.T
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a, err := broker.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	return &authority{a, t}
}

// server returns the TLS configuration of a server on this machine.
func (a *authority) server() *tls.Config { return a.serverUntil(time.Time{}) }

// serverUntil returns the TLS configuration of a server whose certificate expires at end; with a
// zero end, much later.
func (a *authority) serverUntil(end time.Time) *tls.Config {
	a.t.Helper()
	own, err := a.Server(end)
	if err != nil {
		a.t.Fatal(err)
	}
	return own
}

// pem returns the certificate as an app gets it.
func (a *authority) pem() string { return string(a.PEM()) }

// A user may connect to the server with a key.
type user struct {
	public string
	seed   string
	key    nats.Option // for a Go client
}

func newUser(t *testing.T) user {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return user{public: public, seed: string(seed), key: nats.Nkey(public, pair.Sign)}
}
