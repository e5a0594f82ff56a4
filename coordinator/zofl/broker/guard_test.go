package broker

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// secured returns an authority and the TLS configuration of a broker with a certificate of that
// authority.
func secured(t *testing.T) (*Authority, *tls.Config) {
	t.Helper()
	a, err := NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	own, err := a.Server(time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return a, own
}

// user returns a user's public key and the NATS option that logs in with this key.
func user(t *testing.T) (string, nats.Option) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return public, nats.Nkey(public, pair.Sign)
}

// The broker refuses clients with a key that it does not know, and clients without TLS. Clients
// that do not trust its certificate do not connect.
func TestGuard(t *testing.T) {
	a, own := secured(t)
	public, key := user(t)
	_, stranger := user(t)
	b := run(t, Config{TLS: own, Nkeys: []string{public}})
	trust := a.Trust()

	nc, traffic := dial(t, b, "friend", trust, key)
	if !nc.TLSRequired() || traffic.Up() == 0 {
		t.Errorf("connected to %s without TLS, or without bytes counted", b.URL())
	}
	for name, opts := range map[string][]nats.Option{
		"nobody in particular": {trust},
		"one without trust":    {key},
	} {
		if nc, _, err := Dial(b.URL(), name, opts...); err == nil {
			nc.Close()
			t.Errorf("%s got in", name)
		}
	}
	if _, _, err := Dial(b.URL(), "stranger", trust, stranger); !errors.Is(err,
		nats.ErrAuthorization) {
		t.Errorf("a stranger got %v, want an authorization error", err)
	}
}

// A connection without TLS receives only the server's greeting.
func TestNotInTheClear(t *testing.T) {
	_, own := secured(t)
	b := run(t, Config{TLS: own})
	c, err := net.DialTimeout("tcp", strings.TrimPrefix(b.URL(), "tls://"), patience)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "CONNECT {}\r\nPING\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(c) // until the server closes it
	if text := string(answer); !strings.HasPrefix(text, "INFO ") || strings.Contains(text, "PONG") {
		t.Errorf("got %q, want INFO and nothing that serves", text)
	}
}

// With a configuration file, Run refuses all other fields of Config.
func TestConf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nats.conf")
	conf := "listen: \"127.0.0.1:-1\"\nauthorization: { user: a, password: b }\n"
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	b := run(t, Config{Conf: file})
	if _, _, err := Dial(b.URL(), "stranger"); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("a stranger got %v, want an authorization error", err)
	}
	dial(t, b, "a", nats.UserInfo("a", "b"))
	for _, cfg := range []Config{{Conf: file, MaxPayload: 1 << 20}, {Conf: file, InProcess: true},
		{Conf: file + ".none"}} {
		if b, err := Run(cfg); err == nil {
			b.Shutdown()
			t.Errorf("%+v was taken", cfg)
		}
	}
}
