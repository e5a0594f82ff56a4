package client_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/client"
)

// Only one store at a time may use a directory, and the error for a second store names the remedy.
func TestOpenStoreTwice(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s, err := client.OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.OpenStore(dir)
	if !errors.Is(err, client.ErrStoreLocked) ||
		!strings.Contains(err.Error(), "a folder of its own") {
		t.Errorf("opened twice: got %v, want ErrStoreLocked and the remedy", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := client.OpenStore(dir)
	if err != nil {
		t.Fatalf("opened after Close: %v", err)
	}
	again.Close()
}
