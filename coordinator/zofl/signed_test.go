package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/wire/signed"
)

// TestServeSigns: serve makes a key that survives restarts, and shows it. Who pins it takes part
// and verifies the log; who pins another one gets nothing.
func TestServeSigns(t *testing.T) {
	dir, address := t.TempDir(), freeport.Address(t)
	plan, key, url := filepath.Join(dir, "plan.json"), filepath.Join(dir, "key"), "nats://"+address
	if _, err := zofl(t, "plan", "--run", "kitchen", "--dim", "20", "--write", plan,
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
	other, err := makeKey(filepath.Join(dir, "other"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := verify(publicOf(other).String()); err == nil ||
		!strings.Contains(err.Error(), "zofl status") {
		t.Errorf("verify with another key: %v: %s", err, out)
	}
}

// TestKeyRefused: what is no key, or not kept well, is refused with the remedy.
func TestKeyRefused(t *testing.T) {
	dir := t.TempDir()
	open, noKey := filepath.Join(dir, "open"), filepath.Join(dir, "none")
	if _, err := makeKey(open); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(noKey, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{open: "chmod 600", noKey: "PEM"} {
		f := serveFlags{keyFile: file}
		if err := f.speaker(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, args := range [][]string{
		{"client", "--url", "nats://127.0.0.1:1", "--run", "r", "--id", "a", "--coordinator", "x"},
		{"verify", "--store", dir, "--coordinator", "ed25519:x"},
	} {
		_, err := zofl(t, args...)
		refused(t, err, []string{"--coordinator"})
	}
}

// TestCredsNameTheKey: the file of a device names the key, that of a coordinator has its private
// half, and a coordinator without it is refused.
func TestCredsNameTheKey(t *testing.T) {
	k := newEnrolled(t)
	var device, lead connection
	device.creds, lead.creds = k.add("a", "device")[3], k.add("lead", "coordinator")[3]
	known, err := device.coordinator("")
	if err != nil || len(known) != 1 {
		t.Fatalf("%v, %v", known, err)
	}
	f := serveFlags{connection: lead}
	if err := f.speaker(); err != nil || publicOf(f.private).String() != known.String() {
		t.Errorf("the coordinator's file: %v", err)
	}
	content, err := os.ReadFile(device.creds)
	if err != nil || strings.Contains(string(content), keyBlock) {
		t.Errorf("a device has the private key: %v", err)
	}
	other := filepath.Join(t.TempDir(), "other")
	for _, f := range []serveFlags{{connection: device}, {connection: lead, keyFile: other}} {
		if err := f.speaker(); err == nil || !strings.Contains(err.Error(), "--key") {
			t.Errorf("with another key or none: %v", err)
		}
	}
}
