package broker

import (
	"bufio"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// TestConnectionsWithin: a broker leaves descriptors for other things, however few there are.
func TestConnectionsWithin(t *testing.T) {
	for descriptors, want := range map[uint64]int{0: 65536, 10: 16, 256: 192, 1024: 768,
		4096: 3584, 1 << 20: 65536, 1 << 63: 65536} {
		if got := connectionsWithin(descriptors); got != want {
			t.Errorf("%d descriptors: %d connections, want %d", descriptors, got, want)
		}
	}
}

// TestStrangersLeaveRoom: connections that say nothing are many more than the server takes, and a
// user still comes in. The user's connection stays.
func TestStrangersLeaveRoom(t *testing.T) {
	conf := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(conf, []byte("listen: \"127.0.0.1:-1\"\nmax_connections: 40\n"+
		"authorization: { timeout: 600, user: u, password: p }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := run(t, Config{Conf: conf})
	before, _ := dial(t, b, "before", nats.UserInfo("u", "p"), nats.NoReconnect())
	for range 200 {
		nc, err := net.Dial("tcp", b.server.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = nc.Close() })
		if _, err := bufio.NewReader(nc).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	for began := time.Now(); ; {
		nc, err := nats.Connect(b.URL(), nats.UserInfo("u", "p"))
		if err == nil {
			nc.Close()
			break
		}
		if time.Since(began) > patience {
			t.Fatalf("no way in: %v", err)
		}
	}
	if err := before.Flush(); err != nil {
		t.Errorf("who had logged in is out: %v", err)
	}
	for began := time.Now(); b.Clients() > 1+(40-1)/2; time.Sleep(time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("%d clients of 40 at most, nearly all strangers", b.Clients())
		}
	}
}
