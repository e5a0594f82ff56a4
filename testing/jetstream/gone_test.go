//go:build unix

package jetstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/testing/servers"
)

// A lineLog is a log of lines that a test reads meanwhile.
type lineLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lineLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// says waits until a line has all the texts.
func (l *lineLog) says(t *testing.T, texts ...string) {
	t.Helper()
	servers.Eventually(t, fmt.Sprintf("a line with %q", texts), func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		for line := range strings.Lines(l.text.String()) {
			missing := false
			for _, text := range texts {
				missing = missing || !strings.Contains(line, text)
			}
			if !missing {
				return nil
			}
		}
		return errors.New(l.text.String())
	})
}

// gone checks a coordinator that stands by while somebody deletes streams of the run. Without the
// records or the roster there is nothing to lead, and the coordinator says so. It makes the others
// again.
func gone(t *testing.T, p place, run string) {
	all := []string{"ZO_%s_LOG", "ZO_%s_MEMBERS", "KV_ZO_%s_LEASE", "KV_ZO_%s_EPOCH"}
	for i, deleted := range [][]string{all, all[2:], all[2:3], all[3:], all[:1], all[1:2]} {
		t.Run(strings.Join(deleted, " "), func(t *testing.T) {
			t.Parallel()
			run := fmt.Sprint(run, "_", i)
			leader := p.openFor(t, run, leaseTTL)
			epoch := begin(t, leader)
			c := newChain(t, run)
			c.appendTo(leader, 3)
			if err := leader.AddMembers(t.Context(), []string{"a"}); err != nil {
				t.Fatal(err)
			}
			var lines lineLog
			other, err := p.tryOpen(t, jetlog.Config{Conn: p.connect(t), Run: run, LeaseTTL: leaseTTL,
				Logger: slog.New(slog.NewTextHandler(&lines, nil))})
			if err != nil {
				t.Fatal(err)
			}
			begun := make(chan error, 1)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			var next uint64
			go func() {
				var err error
				next, err = other.Begin(ctx)
				begun <- err
			}()
			lines.says(t, "standing by", "another coordinator leads")
			js, _ := p.stream(t, "ZO_"+run+"_LOG")
			for _, name := range deleted {
				if err := js.DeleteStream(t.Context(), fmt.Sprintf(name, run)); err != nil {
					t.Fatal(err)
				}
			}
			_ = leader.Close() // its lease may be gone
			err = <-begun
			if i := strings.Index(deleted[0], "ZO_%s_"); i == 0 {
				if !errors.Is(err, runlog.ErrCorrupt) || !strings.Contains(err.Error(),
					fmt.Sprintf(deleted[0], run)+" does not exist any more") ||
					!strings.Contains(err.Error(), "zofl recover") {
					t.Errorf("got %v, want that %s is gone and what to do", err, deleted[0])
				}
				return
			}
			if err != nil || next <= epoch && !strings.Contains(deleted[len(deleted)-1], "EPOCH") {
				t.Fatalf("epoch %d after %d, %v", next, epoch, err)
			}
			c.check(other)
			c.appendTo(other, 2)
			closeLog(t, other)
		})
	}
}

// TestUnavailable checks what a person reads where too few servers are up, or none: who is silent,
// and what to do.
func TestUnavailable(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for servers that do not answer")
	}
	t.Parallel()
	p := places["cluster"](t)
	c := newChain(t, "silent")
	leader := p.openFor(t, "silent", leaseTTL)
	begin(t, leader)
	c.appendTo(leader, 3)
	closeLog(t, leader)
	var lines lineLog
	there := place{url: p.cluster.Servers[2].URL, replicas: 3}
	standby, err := there.tryOpen(t, jetlog.Config{Conn: there.connect(t), Run: "silent",
		LeaseTTL: leaseTTL, Timeout: time.Second, Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.cluster.Servers[:2] {
		s.Kill()
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { _, _ = standby.Begin(ctx); close(done) }()
	lines.says(t, "waiting for the lead", "do not answer", "more than half", "snapshot corrupt")
	stop()
	<-done
	short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	l, err := jetlog.Open(short, jetlog.Config{Conn: there.connect(t), Run: "silent", Existing: true})
	if err == nil {
		closeLog(t, l)
	}
	calls := map[string]error{
		"open":    err,
		"append":  standby.Append(t.Context(), 4, c.next(1)),
		"compare": standby.Append(t.Context(), 3, c.records[2]),
		"members": standby.AddMembers(t.Context(), []string{"a"}),
		"decide":  nil,
	}
	short, cancel = context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	calls["decide"] = standby.Decide(short, runlog.Decisions{})
	_, calls["decisions"] = standby.Decisions(short)
	_, calls["seen"] = standby.Seen(short)
	for call, err := range calls {
		// The remaining server may still answer what it knows, and where it led the stream, that
		// just this is stored already.
		if err == nil && call != "append" && call != "members" {
			continue
		}
		if !errors.Is(err, runlog.ErrUnavailable) ||
			strings.Contains(err.Error(), "deadline exceeded") {
			t.Errorf("%s: %v, want who does not answer", call, err)
		}
	}
}
