//go:build unix

package lossprogram

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/internal/await"
)

// TestLate: an answer that comes after its round does not count as the answer to the next request.
// Until it comes, the device hears that the program owes it.
func TestLate(t *testing.T) {
	dir := t.TempDir()
	once, pipe := filepath.Join(dir, "once"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(once, nil, 0o600), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ZOFL_TEST_ONCE", once)
	t.Setenv("ZOFL_TEST_LATE", pipe)
	cfg, log := config(t, "late")
	cfg.Patience = await.Patience
	p, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		log.Says("late")
		cancel()
	}()
	if _, err := ask(ctx, p); err == nil {
		t.Fatal("no error from an answer that comes too late")
	}
	next, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := ask(next, p); !errors.Is(err, objective.ErrBusy) {
		t.Errorf("before the answer: %v, want %v", err, objective.ErrBusy)
	}
	if err := os.WriteFile(pipe, nil, 0o600); err != nil { // now it answers
		t.Fatal(err)
	}
	well(t, p)
	if strings.Contains(log.String(), "starts again") {
		t.Errorf("the program was out of step: %s", log)
	}
	if p.Err() != nil {
		t.Error(p.Err())
	}
}
