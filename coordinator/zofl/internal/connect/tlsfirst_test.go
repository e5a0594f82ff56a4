package connect

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/zofl/zofl/coordinator/zofl/broker"
)

// TestTLSFirst: a server that begins with TLS is reached with --tls-first, and without it the error
// names the flag.
func TestTLSFirst(t *testing.T) {
	a, err := broker.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	secure, err := a.Server(time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT,
		TLSConfig: secure, TLSHandshakeFirst: true, TLSTimeout: 1, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, a.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	address := "tls://" + s.Addr().(*net.TCPAddr).String()
	for _, c := range []*Connection{{URL: address, ca: ca}, {URL: address, ca: ca, tlsFirst: true}} {
		nc, err := c.Dial("x", "")
		switch {
		case err == nil:
			nc.Close()
			if !c.tlsFirst {
				t.Error("a connection without --tls-first")
			}
		case c.tlsFirst:
			t.Errorf("with --tls-first: %v", err)
		case !strings.Contains(err.Error(), "give --tls-first"):
			t.Errorf("without --tls-first: %v", err)
		}
	}
}
