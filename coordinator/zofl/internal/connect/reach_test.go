package connect

import (
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// TestReachTellsOnce: until there is a connection, a reach logs each reason once, in whatever order
// reasons come. Two errors that differ only in the local port are one reason.
func TestReachTellsOnce(t *testing.T) {
	var out strings.Builder
	r, err := newReach(&Connection{URL: "nats://u:secret@a,nats://b"}, time.Second,
		slog.New(slog.NewTextHandler(&out, nil)))
	if err != nil {
		t.Fatal(err)
	}
	address := func(port int) *net.TCPAddr {
		return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}
	}
	for attempt := range 3 {
		r.failed(&net.OpError{Op: "read", Net: "tcp", Source: address(50000 + attempt),
			Addr: address(4222), Err: errors.New("connection reset by peer")})
		r.failed(nats.ErrAuthorization)
	}
	if n := strings.Count(out.String(), "level=WARN"); n != 2 {
		t.Errorf("%d lines of two reasons:\n%s", n, out.String())
	}
	r.connected(&nats.Conn{})
	r.connected(&nats.Conn{})
	if n := strings.Count(out.String(), "connected to the broker"); n != 1 {
		t.Errorf("%d lines of a cure:\n%s", n, out.String())
	}
	r.failed(nats.ErrAuthorization)
	if n := strings.Count(out.String(), "level=WARN"); n != 3 {
		t.Errorf("%d lines after another fault:\n%s", n, out.String())
	}
	if strings.Contains(out.String(), "secret") {
		t.Errorf("a password is printed:\n%s", out.String())
	}
}
