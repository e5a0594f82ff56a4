package main

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/wire/signed"
)

// TestServeSigns: serve makes a key that survives restarts, and shows the public key. Commands with
// --coordinator and this key take part and verify the log. Commands with another key accept
// nothing.
func TestServeSigns(t *testing.T) {
	dir, address := t.TempDir(), freeport.Address(t)
	plan, key, url := filepath.Join(dir, "plan.json"), filepath.Join(dir, "key"), "nats://"+address
	if _, err := zofl(t, "plan", "--preset", "zofl", "--run", "kitchen",
		"--dim", "20", "--write", plan,
		"--set", "members=1", "--set", "target=1", "--set", "quorum=1", "--set", "rounds=5",
		"--set", "reannounce=100"); err != nil {
		t.Fatal(err)
	}
	serve := []string{"serve", plan, "--store", filepath.Join(dir, "log"), "--listen", address,
		"--key", key}
	lead := background(t, serve...)
	k := &kitchen{t: t, url: url}
	first := k.reach(1).Key
	if _, err := signed.ParseKeys(first); err != nil || first == "" {
		t.Fatalf("status shows the key %q", first)
	}
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v, %v", info, err)
	}
	if err := lead.stop(); err != nil {
		t.Fatal(err)
	}
	background(t, serve...)
	if again := k.reach(1).Key; again != first {
		t.Errorf("key %q, after a restart %q", first, again)
	}
	device := background(t, "client", "--url", url, "--run", "kitchen", "--id", "a", "--json",
		"--objective", "bowl", "--dim", "20", "--coordinator", first)
	waitFor(t, device, `"event":"stopped"`)
	verify := func(key string) (string, error) {
		return zofl(t, "verify", "--url", url, "--run", "kitchen", "--coordinator", key)
	}
	if out, err := verify(first); err != nil || !strings.Contains(out, "rounds") {
		t.Errorf("verify: %v: %s", err, out)
	}
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := verify(signed.Keys{signed.Key(other)}.String()); err == nil ||
		!strings.Contains(err.Error(), "zofl status") {
		t.Errorf("verify with another key: %v: %s", err, out)
	}
}

// TestNoKeyOfACoordinator: what is no key is refused, and so is one for a log at rest.
func TestNoKeyOfACoordinator(t *testing.T) {
	for _, args := range [][]string{
		{"client", "--url", "nats://127.0.0.1:1", "--run", "r", "--id", "a", "--coordinator", "x"},
		{"verify", "--store", t.TempDir(), "--coordinator", "ed25519:x"},
	} {
		_, err := zofl(t, args...)
		refused(t, err, []string{"--coordinator"})
	}
}
