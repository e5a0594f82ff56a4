package main

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// TestNotInTheClear: to another machine the program speaks under TLS only, unless it is told.
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
		way := connection{url: c.address}
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
	_, err := zofl(t, "status", "--run", "r", "--url", "nats://broker.invalid")
	refused(t, err, []string{"nats://broker.invalid", "--plaintext"})
}

// TestTrustDemandsTLS: with an authority, nats:// means TLS as well, and a server without it is
// refused.
func TestTrustDemandsTLS(t *testing.T) {
	k := newEnrolled(t)
	login := k.add("alice", "operator")
	login[1] = strings.Replace(k.url, "tls://", "nats://", 1)
	if _, err := zofl(t, append([]string{"status"}, login...)...); err != nil {
		t.Errorf("nats:// with an authority: %v", err)
	}
	g := newGuarded(t, "conf", false, theRoles...)
	login[1] = g.url
	if _, err := zofl(t, append([]string{"status"}, login...)...); err == nil ||
		!strings.Contains(err.Error(), "secure connection") {
		t.Errorf("a server without TLS: %v", err)
	}
}

// TestDiscoveredServersAreIgnored: what a server says of others is no address to connect to.
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
		if !s.ReadyForConnections(patience) {
			t.Fatal("the server is not ready")
		}
		servers = append(servers, s)
		routes = append(routes, &url.URL{Scheme: "nats", Host: s.ClusterAddr().String()})
	}
	for began := time.Now(); servers[0].NumRoutes() == 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatal("the servers make no cluster")
		}
	}
	plain, err := nats.Connect(servers[0].ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	for began := time.Now(); len(plain.DiscoveredServers()) == 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatal("the server names no other, so this test shows nothing")
		}
	}
	nc, err := (&connection{url: servers[0].ClientURL()}).dial("x", "_INBOX_x")
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if found := nc.DiscoveredServers(); len(found) > 0 {
		t.Errorf("learned of %v", found)
	}
}

// TestSecretsOfOthers: a secret that others can use is refused, with the remedy.
func TestSecretsOfOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // modes say nothing there
	}
	k := newEnrolled(t)
	login := k.add("alice", "operator")
	secret := filepath.Join(t.TempDir(), "run.key")
	if _, err := zofl(t, "plan", "--dim", "3", "--secret", secret); err != nil {
		t.Fatal(err)
	}
	user := filepath.Join(t.TempDir(), "user.seed")
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err == nil {
		err = os.WriteFile(user, seed, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file string
		args []string
		flag string
	}{
		{login[3], append([]string{"status"}, login...), "--creds"},
		{user, []string{"status", "--run", "r", "--url", k.url, "--nkey", user}, "--nkey"},
		{filepath.Join(k.auth, "server.key"), []string{"status", "--run", "r", "--url", k.url,
			"--tls-cert", filepath.Join(k.auth, "server.pem"), "--tls-key",
			filepath.Join(k.auth, "server.key")}, "--tls-key"},
		{secret, []string{"plan", "--dim", "3", "--secret", secret}, "--secret"},
		{secret, append([]string{"export", "--out", "x.npy", "--secret", secret}, login...), "--secret"},
	} {
		for _, mode := range []os.FileMode{0o640, 0o604, 0o622} {
			if err := os.Chmod(c.file, mode); err != nil {
				t.Fatal(err)
			}
			_, err := zofl(t, c.args...)
			refused(t, err, []string{c.flag, "chmod 600 " + c.file})
		}
		if err := os.Chmod(c.file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := zofl(t, append([]string{"status"}, login...)...); err != nil {
		t.Errorf("after the remedy: %v", err)
	}
}
