//go:build unix

package main

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/zofl/zofl/examples/sensor/internal/config"
)

// Something other than a regular file ends the agent, because only another configuration
// helps. With a pipe without a writer the agent could not even end.
func TestTailOfNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		once bool
	}{{dir, false}, {pipe, false}, {pipe, true}, {filepath.Join(dir, "none"), true}} {
		f := &tail{path: c.path, once: c.once, warn: func(string) {}}
		var bad *config.FieldError
		if _, _, err := f.line(t.Context()); !errors.As(err, &bad) || bad.Field != "source" ||
			bad.Value != c.path {
			t.Errorf("%s: %v, want an error of the field source", c.path, err)
		}
	}
}
