package device

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// A directory of state belongs to its first device, even if an older version made it without the
// device's id.
func TestOwnStore(t *testing.T) {
	dir := t.TempDir()
	store, err := client.OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	for range 2 {
		if err := ownStore(store, dir, "d0"); err != nil {
			t.Fatal(err)
		}
	}
	err = ownStore(store, dir, "d9")
	if !errors.As(err, new(cli.UsageError)) || !strings.Contains(err.Error(), "device d0, not of d9") {
		t.Errorf("another device: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, itemID)); err != nil {
		t.Fatal(err)
	}
	if err := ownStore(store, dir, "d9"); err != nil {
		t.Errorf("the remedy: %v", err)
	}
}

// TestDamagedID: if the item holds no id, the error says so, and its remedy works.
func TestDamagedID(t *testing.T) {
	dir := t.TempDir()
	store, err := client.OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	file := filepath.Join(dir, itemID)
	if err := os.WriteFile(file, []byte("\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	err = ownStore(store, dir, "d0")
	if !errors.As(err, new(cli.UsageError)) || !strings.Contains(err.Error(), "damaged") ||
		!strings.Contains(err.Error(), "write d0 into it") || strings.Contains(err.Error(), "\x00") {
		t.Errorf("%q", err)
	}
	if err := os.WriteFile(file, []byte("d0"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ownStore(store, dir, "d0"); err != nil {
		t.Errorf("the remedy: %v", err)
	}
}
