package broker

import (
	"crypto/tls"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/internal/disk"
)

// patience ends a test that hangs. A passing test never waits that long.
const patience = 2 * time.Minute

// kinds are the ways to reach a broker.
var kinds = map[string]Config{
	"tcp":        {},
	"in-process": {InProcess: true},
}

func run(t *testing.T, cfg Config) *Broker {
	t.Helper()
	b, err := Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	return b
}

func dial(t *testing.T, b *Broker, name string, more ...nats.Option) (*nats.Conn, *Traffic) {
	t.Helper()
	nc, traffic, err := b.Connect(name, more...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc, traffic
}

func wait(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("no %s within %v", what, patience)
	}
}

func TestMessagesPass(t *testing.T) {
	for name, cfg := range kinds {
		t.Run(name, func(t *testing.T) {
			b := run(t, cfg)
			if (b.URL() == "") != cfg.InProcess {
				t.Errorf("URL is %q", b.URL())
			}
			from, _ := dial(t, b, "from")
			to, _ := dial(t, b, "to")
			sub, err := to.SubscribeSync("a.>")
			if err != nil {
				t.Fatal(err)
			}
			if err := to.Flush(); err != nil { // the server knows the subscription
				t.Fatal(err)
			}
			if err := from.Publish("a.b", []byte("hello")); err != nil {
				t.Fatal(err)
			}
			m, err := sub.NextMsg(patience)
			if err != nil {
				t.Fatal(err)
			}
			if string(m.Data) != "hello" || m.Subject != "a.b" {
				t.Errorf("got %q on %s", m.Data, m.Subject)
			}
			if n := b.Clients(); n != 2 {
				t.Errorf("got %d clients, want 2", n)
			}
		})
	}
}

func TestMaxPayload(t *testing.T) {
	for _, tt := range []struct{ set, want int }{{0, 64 << 10}, {1000, 1000}} {
		nc, _ := dial(t, run(t, Config{MaxPayload: tt.set}), "client")
		if got := nc.MaxPayload(); got != int64(tt.want) {
			t.Errorf("MaxPayload %d: clients are told %d, want %d", tt.set, got, tt.want)
		}
		if err := nc.Publish("a", make([]byte, tt.want)); err != nil {
			t.Errorf("MaxPayload %d: %d bytes: %v", tt.set, tt.want, err)
		}
		if err := nc.Publish("a", make([]byte, tt.want+1)); !errors.Is(err, nats.ErrMaxPayload) {
			t.Errorf("MaxPayload %d: %d bytes: got %v, want nats.ErrMaxPayload", tt.set, tt.want+1,
				err)
		}
	}
}

// TestLockedStore: one broker at a time uses a directory of JetStream.
func TestLockedStore(t *testing.T) {
	cfg := Config{JetStream: filepath.Join(t.TempDir(), "new", "jetstream")}
	for range 2 {
		b := run(t, cfg)
		if _, err := Run(cfg); !errors.Is(err, disk.ErrLocked) {
			t.Errorf("got %v, want ErrLocked", err)
		}
		b.Shutdown()
	}
}

func TestListen(t *testing.T) {
	if b := run(t, Config{Listen: "127.0.0.1:0"}); !strings.HasPrefix(b.URL(),
		"nats://127.0.0.1:") {
		t.Fatalf("URL is %q", b.URL())
	}
	addr := freeport.Address(t)
	b := run(t, Config{Listen: addr})
	if _, err := Run(Config{Listen: addr}); err == nil {
		t.Errorf("a second broker runs on %s", addr)
	}
	b.Shutdown()
	again := run(t, Config{Listen: addr})
	if again.URL() != b.URL() {
		t.Errorf("asked for %s, got %s", b.URL(), again.URL())
	}
}

func TestRunRefuses(t *testing.T) {
	for name, cfg := range map[string]Config{
		"in-process and TCP": {InProcess: true, Listen: "127.0.0.1:0"},
		"no port":            {Listen: "127.0.0.1"},
		"named port":         {Listen: "127.0.0.1:nats"},
		"port too large":     {Listen: "127.0.0.1:65536"},
		"foreign address":    {Listen: "192.0.2.1:0"},
		"in-process and TLS": {InProcess: true, TLS: &tls.Config{}},
		"no key":             {Nkeys: []string{"alice"}},
		"in-process WebSocket": {InProcess: true, WebSocket: "127.0.0.1:0",
			Origins: []string{page}},
		"no origins":           {WebSocket: "127.0.0.1:0"},
		"no WebSocket":         {Origins: []string{page}},
		"WebSocket of no port": {WebSocket: "127.0.0.1", Origins: []string{page}},
		"origin of no scheme":  {WebSocket: "127.0.0.1:0", Origins: []string{"127.0.0.1:8080"}},
		"negative payload":     {MaxPayload: -1},
		"huge payload":         {MaxPayload: 1 << 30},
	} {
		b, err := Run(cfg)
		if err == nil {
			b.Shutdown()
			t.Errorf("%s: runs", name)
		} else if !strings.HasPrefix(err.Error(), "broker: ") {
			t.Errorf("%s: got %q, want the package named", name, err)
		}
	}
}

// A JetStream keeps acknowledged messages for the next broker in its directory.
func TestJetStream(t *testing.T) {
	for name, cfg := range kinds {
		t.Run(name, func(t *testing.T) {
			cfg.JetStream = t.TempDir()
			b := run(t, cfg)
			nc, _ := dial(t, b, "writer")
			js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(patience))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := js.CreateStream(t.Context(),
				jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
				t.Fatal(err)
			}
			if _, err := js.Publish(t.Context(), "s", []byte("kept")); err != nil {
				t.Fatal(err)
			}
			b.Shutdown()
			nc, _ = dial(t, run(t, cfg), "reader")
			if js, err = jetstream.New(nc, jetstream.WithDefaultTimeout(patience)); err != nil {
				t.Fatal(err)
			}
			s, err := js.Stream(t.Context(), "S")
			if err != nil {
				t.Fatal(err)
			}
			if m, err := s.GetMsg(t.Context(), 1); err != nil || string(m.Data) != "kept" {
				t.Errorf("got %v (%v), want the message that was acknowledged", m, err)
			}
		})
	}
	nc, _ := dial(t, run(t, Config{}), "client")
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.AccountInfo(t.Context()); !errors.Is(err, jetstream.ErrJetStreamNotEnabled) {
		t.Errorf("a broker without a directory: got %v, want no JetStream", err)
	}
}

// When Shutdown returns, the port is free and the connections are closed.
func TestShutdown(t *testing.T) {
	for name, cfg := range kinds {
		t.Run(name, func(t *testing.T) {
			if !cfg.InProcess {
				cfg.Listen = freeport.Address(t)
			}
			b := run(t, cfg)
			closed := make(chan struct{})
			dial(t, b, "client", nats.NoReconnect(),
				nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
			b.Shutdown()
			b.Shutdown()
			wait(t, closed, "end of the connection")
			if _, _, err := b.Connect("late", nats.Timeout(time.Second)); err == nil {
				t.Error("a broker that is shut down accepts a connection")
			}
			if cfg.InProcess {
				return
			}
			l, err := net.Listen("tcp", cfg.Listen)
			if err != nil {
				t.Fatalf("port is not free: %v", err)
			}
			l.Close()
		})
	}
}
