package main

import (
	"path/filepath"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// TestOwnLease: serve with its own broker leads at once after it was killed, because nobody else
// can hold the lease that it left. With a lease of an hour it would otherwise lead in an hour.
func TestOwnLease(t *testing.T) {
	t.Parallel()
	args := []string{"serve", kitchenPlan(t), "--jetstream", "--lease", "1h", "--listen",
		"127.0.0.1:0", "--store", filepath.Join(t.TempDir(), "store")}
	for range 3 {
		p := start(t, args...)
		p.says(&p.stderr, "leading")
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		p.exited()
	}
}

// TestTwoServesOfAStore: a second serve on the JetStream of a first ends at once, whatever its
// address is, and the first goes on.
func TestTwoServesOfAStore(t *testing.T) {
	t.Parallel()
	plan, address := kitchenPlan(t), freeport.Address(t)
	store := filepath.Join(t.TempDir(), "store")
	args := []string{"serve", plan, "--jetstream", "--store", store, "--listen"}
	first := start(t, append(args, address)...)
	first.says(&first.stderr, "leading")
	for _, listen := range []string{address, freeport.Address(t)} {
		second := start(t, append(args, listen)...)
		if code := second.exited(); code != 1 {
			t.Errorf("exit code %d, want 1", code)
		}
		second.says(&second.stderr, "--store "+store, "in use", "another directory")
	}
	if code := first.interrupt(); code != 0 {
		t.Errorf("the first ended with exit code %d: %s", code, first.stderr.String())
	}
}
