package connect

import (
	"net/url"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/internal/await"
)

// TestNotInTheClear: without --plaintext, the program connects to another machine only with TLS.
func TestNotInTheClear(t *testing.T) {
	for _, c := range []struct {
		address string
		clear   bool
	}{
		{"nats://127.0.0.1:4222", false}, {"127.0.0.1", false}, {"nats://localhost", false},
		{"nats://[::1]:4222", false}, {"ws://127.0.0.1", false},
		{"tls://broker:4222", false}, {"wss://broker", false},
		{"nats://broker:4222", true}, {"broker", true}, {"nats://192.0.2.1", true},
		{"ws://broker", true}, {"nats://user:secret@broker", true},
		{"nats://127.0.0.1.example.com", true}, {"nats://0.0.0.0", true},
		{"tls://broker,nats://other", true},
	} {
		way := Connection{URL: c.address}
		err := way.check()
		if (err != nil) != c.clear {
			t.Errorf("%s: %v, want an error: %v", c.address, err, c.clear)
		}
		if err != nil && (!strings.Contains(err.Error(), "--plaintext") ||
			!strings.Contains(err.Error(), "tls://") || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v, want the remedies, and no password", c.address, err)
		}
		if way.plaintext = true; way.check() != nil {
			t.Errorf("%s is refused with --plaintext: %v", c.address, way.check())
		}
	}
}

// TestDiscoveredServersAreIgnored: a connection never connects to servers that another server
// names.
func TestDiscoveredServersAreIgnored(t *testing.T) {
	var servers []*server.Server
	var routes []*url.URL
	for range 2 {
		s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT,
			NoSigs: true, NoLog: true, Routes: routes,
			Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: server.RANDOM_PORT}})
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		if !s.ReadyForConnections(await.Patience) {
			t.Fatal("the server is not ready")
		}
		servers = append(servers, s)
		routes = append(routes, &url.URL{Scheme: "nats", Host: s.ClusterAddr().String()})
	}
	await.That(t, "the servers make a cluster", func() bool { return servers[0].NumRoutes() > 0 })
	plain, err := nats.Connect(servers[0].ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	await.That(t, "the server names the other, without which this test shows nothing",
		func() bool { return len(plain.DiscoveredServers()) > 0 })
	nc, err := (&Connection{URL: servers[0].ClientURL()}).Dial("x", "_INBOX_x")
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if found := nc.DiscoveredServers(); len(found) > 0 {
		t.Errorf("learned of %v", found)
	}
}
