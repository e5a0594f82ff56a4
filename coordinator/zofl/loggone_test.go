package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/await"
)

// The log is renamed, cut or removed under a running serve: the run halts at once, and status says
// what happened. If the log comes back, the run can go on. If the log is gone, serve writes a whole
// copy.
func TestLogIsGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files that are open can be neither renamed nor removed")
	}
	k := newKitchen(t)
	k.device("a")
	k.device("b")
	k.reach(8)
	halted := func(why string, errs ...error) (n uint64) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		await.That(t, "the run halts: "+why, func() bool {
			s, err := k.ask("status")
			n = s.N
			return err == nil && s.State == "paused" && strings.Contains(s.Reason, why)
		})
		return n
	}

	old := filepath.Join(k.dir, "old")
	n := halted("removed or renamed the log", os.Rename(k.log, old))
	if m := len(frames(t, old)); uint64(m) != n {
		t.Errorf("the log has %d records, and status says %d", m, n)
	}
	if err := os.Rename(old, k.log); err != nil {
		t.Fatal(err)
	}
	k.reach(n + 8)

	n = halted("removed or renamed the log", os.RemoveAll(k.log))
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	lost := k.log
	k.log = lost + ".rescued-2" // the first one is of the log that came back
	k.lead = k.leads()
	k.reach(n + 8)

	halted("cut the log from", os.Truncate(filepath.Join(k.log, "log"), 400))
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	refuses(t, []string{"--accept-loss"}, "serve", k.plan, "--store", k.log, "--listen",
		strings.TrimPrefix(k.url, "nats://"))
}
