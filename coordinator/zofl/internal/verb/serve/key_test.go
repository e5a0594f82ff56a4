package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/enrol"
	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
)

// TestKeyRefused: loadKey refuses a file without a key, or one that others can read, with a remedy.
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
}

// TestEditedKey: a key is read from a file with a comment and a byte-order mark.
func TestEditedKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	want, err := makeKey(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range []string{"\ufeff", "# of May\n", "\ufeff# of May\n"} {
		if err := os.WriteFile(file, []byte(before+string(text)), 0o600); err != nil {
			t.Fatal(err)
		}
		f := serveFlags{keyFile: file}
		if err := f.speaker(); err != nil || !f.private.Equal(want) {
			t.Errorf("after %q: %v", before, err)
		}
	}
}

// TestCredsNameTheKey: the file of a device names the key, that of a coordinator has its private
// half, and a coordinator without it is refused.
func TestCredsNameTheKey(t *testing.T) {
	dir := t.TempDir()
	auth := filepath.Join(dir, "auth")
	begun := serveFlags{run: "kitchen", listen: "127.0.0.1:4222", guard: guard{auth: auth}}
	if _, _, err := begun.enrolled(""); err != nil {
		t.Fatal(err)
	}
	device := connect.Connection{Creds: filepath.Join(dir, "a.creds")}
	lead := connect.Connection{Creds: filepath.Join(dir, "lead.creds")}
	users, err := enrol.Open(auth)
	if err != nil {
		t.Fatal(err)
	}
	defer users.Close()
	for role, file := range map[grant.Role]string{grant.Device: device.Creds,
		grant.Coordinator: lead.Creds} {
		card, err := users.Add(role, string(role))
		if err != nil {
			t.Fatal(err)
		}
		content, err := card.Creds()
		if err == nil {
			err = os.WriteFile(file, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	known, err := device.Coordinator("")
	if err != nil || len(known) != 1 {
		t.Fatalf("%v, %v", known, err)
	}
	f := serveFlags{Connection: lead}
	if err := f.speaker(); err != nil || publicOf(f.private).String() != known.String() {
		t.Errorf("the coordinator's file: %v", err)
	}
	content, err := os.ReadFile(device.Creds)
	if err != nil || strings.Contains(string(content), keyBlock) {
		t.Errorf("a device has the private key: %v", err)
	}
	other := filepath.Join(t.TempDir(), "other")
	for _, f := range []serveFlags{{Connection: device}, {Connection: lead, keyFile: other}} {
		if err := f.speaker(); err == nil || !strings.Contains(err.Error(), "--key") {
			t.Errorf("with another key or none: %v", err)
		}
	}
}
