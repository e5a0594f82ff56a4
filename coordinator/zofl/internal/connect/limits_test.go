package connect

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/internal/await"
)

// TestMaxConnections: a broker that has as many connections as it allows is named as that, with and
// without TLS, also at the tenth attempt.
func TestMaxConnections(t *testing.T) {
	a, err := broker.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	secure, err := a.Server(time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, a.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []string{"nats", "tls"} {
		opts := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, MaxConn: 1, NoSigs: true,
			NoLog: true}
		c := &Connection{}
		if scheme == "tls" {
			opts.TLSConfig, opts.TLSTimeout, c.ca = secure, 10, ca
		}
		s, err := server.NewServer(opts)
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		if !s.ReadyForConnections(await.Patience) {
			t.Fatal("the server is not ready")
		}
		c.URL = scheme + "://" + s.Addr().(*net.TCPAddr).String()
		first, err := c.Dial("first", "")
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if nc, err := c.Dial("x", ""); err == nil {
				nc.Close()
				t.Fatal("the broker takes a second connection")
			} else if !strings.Contains(err.Error(), "max_connections") {
				t.Errorf("%s: %v, want the limit named", scheme, err)
			}
		}
		first.Close()
	}
}

// TestExpiredUser: the reasons for which a broker ends a connection have a remedy.
func TestExpiredUser(t *testing.T) {
	for err, want := range map[error]string{
		nats.ErrAuthExpired:                   "write new credentials to the same file",
		nats.ErrAccountAuthExpired:            "write new credentials to the same file",
		nats.ErrAuthRevoked:                   "check --creds",
		nats.ErrMaxConnectionsExceeded:        "max_connections",
		nats.ErrMaxAccountConnectionsExceeded: "max_connections",
	} {
		if text := remedied(err); !strings.Contains(text, want) {
			t.Errorf("%v: %s, want %q", err, text, want)
		}
		if text := ended(err); refusal(err) && !strings.Contains(text, want) {
			t.Errorf("%v: ended: %s, want %q", err, text, want)
		}
	}
}
