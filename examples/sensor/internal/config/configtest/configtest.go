// Package configtest makes the files and lines of configurations, for tests.
package configtest

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"
)

// File creates a file with a text and returns its name.
func File(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Seed returns the seed of a new user.
func Seed(t *testing.T) string {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return string(seed)
}

// Given returns the line and the file of a user, as zofl device add writes them.
func Given(t *testing.T) (line, file, seed string) {
	seed = Seed(t)
	line = "zofl:?v=1&url=" + url.QueryEscape("tls://broker:4222") + "&run=hall&id=pi&ca=" +
		strings.Repeat("A", 43) + "&jwt=eyJ.x&seed=" + seed
	file = "-----BEGIN NATS USER JWT-----\neyJ.x\n------END NATS USER JWT------\n\n" +
		"-----BEGIN USER NKEY SEED-----\n" + seed + "\n------END USER NKEY SEED------\n"
	return line, file, seed
}
