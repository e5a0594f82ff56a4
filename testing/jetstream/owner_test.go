//go:build unix

package jetstream

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/jetlog"
)

// owner: a log takes at once the lease that another log of the same owner left when it was killed.
// Logs of other owners wait, also for the lease of a log without an owner.
func owner(t *testing.T, p place, run string) {
	open := func(owner string) (log *jetlog.Log, kill func()) {
		t.Helper()
		nc := p.connect(t)
		log, err := p.tryOpen(t, jetlog.Config{Conn: nc, Run: run, LeaseTTL: time.Hour, Owner: owner})
		if err != nil {
			t.Fatal(err)
		}
		return log, nc.Close
	}
	waits := func(log *jetlog.Log) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if _, err := log.Begin(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want that it waits", err)
		}
	}
	last := uint64(0)
	for range 3 {
		log, kill := open("a")
		epoch := begin(t, log)
		if epoch <= last {
			t.Errorf("epoch %d after %d", epoch, last)
		}
		last = epoch
		kill()
	}
	for _, other := range []string{"b", ""} {
		log, _ := open(other)
		waits(log)
	}
	log, _ := open("a")
	begin(t, log)
	closeLog(t, log)
	log, kill := open("")
	begin(t, log)
	kill()
	log, _ = open("a")
	waits(log)
}
