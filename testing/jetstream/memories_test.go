//go:build unix

package jetstream

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
)

// remake deletes the stream of records and makes it again with the given records.
func remake(t *testing.T, p place, run string, records [][]byte) {
	t.Helper()
	js, s := p.stream(t, "ZO_"+run+"_LOG")
	cfg := s.CachedInfo().Config
	if err := js.DeleteStream(t.Context(), cfg.Name); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if _, err := js.Publish(t.Context(), subjects.Log(run), r); err != nil {
			t.Fatal(err)
		}
	}
}

// deletedStream checks that every call that notices a deleted stream names the stream.
func deletedStream(t *testing.T, p place, run string) {
	log := p.openFor(t, run, leaseTTL)
	begin(t, log)
	c := newChain(t, run)
	c.appendTo(log, 3)
	js, _ := p.stream(t, "ZO_"+run+"_LOG")
	if err := js.DeleteStream(t.Context(), "ZO_"+run+"_LOG"); err != nil {
		t.Fatal(err)
	}
	says := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, runlog.ErrCorrupt) ||
			!strings.Contains(err.Error(), "ZO_"+run+"_LOG does not exist any more") {
			t.Errorf("%s: %v, want that the stream does not exist any more", what, err)
		}
	}
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if err = log.Append(t.Context(), 4, c.next(1)); err == nil ||
			errors.Is(err, runlog.ErrCorrupt) {
			break
		}
	}
	says("append", err)
	_, err = log.Begin(t.Context())
	says("begin", err)
	if err := log.AddMembers(t.Context(), []string{"a"}); err != nil {
		t.Fatal(err)
	}
	closeLog(t, log)
	next := p.openFor(t, run, leaseTTL) // it makes the stream again
	begin(t, next)
	err = runlog.CheckEmpty(t.Context(), next)
	if !errors.Is(err, runlog.ErrLeft) || !strings.Contains(err.Error(), "a roster of 1 members") ||
		!strings.Contains(err.Error(), "record 3 was stored") {
		t.Errorf("an empty stream and the rest: %v, want ErrLeft", err)
	}
	aside, err := next.SetAside(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	closeLog(t, next)
	if _, s := p.stream(t, aside); s.CachedInfo().State.Msgs != 1 {
		t.Errorf("%s has %+v, want the message of members", aside, s.CachedInfo().State)
	}
	anew := p.openFor(t, run, leaseTTL)
	begin(t, anew)
	if err := runlog.CheckEmpty(t.Context(), anew); err != nil {
		t.Errorf("what was left is set aside: %v", err)
	}
	if ids, err := anew.Members(); err != nil || len(ids) > 0 {
		t.Errorf("members %q, %v", ids, err)
	}
}

// standby checks a coordinator that stands by. From the leader's claims it knows the last record of
// the log, so it does not lead a log that was set back meanwhile.
func standby(t *testing.T, p place, run string) {
	leader := p.openFor(t, run, leaseTTL)
	begin(t, leader)
	other := p.openFor(t, run, leaseTTL)
	c := newChain(t, run)
	c.appendTo(leader, 9)
	begun := make(chan error, 1)
	go func() {
		_, err := other.Begin(t.Context())
		begun <- err
	}()
	// The leader's claim names record 9 at its next renewal; the standby coordinator reads the claim
	// often.
	time.Sleep(2 * leaseTTL)
	remake(t, p, run, c.records[:4])
	closeLog(t, leader)
	if err := <-begun; err != nil {
		t.Fatal(err)
	}
	var loss *runlog.LossError
	if err := runlog.CheckLoss(t.Context(), other, 0); !errors.As(err, &loss) ||
		loss.Last != 4 || loss.Seen != 9 {
		t.Errorf("a log that was set back: %v, want that records 5..9 are missing", err)
	}
	if err := other.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	closeLog(t, other)
	third := p.openFor(t, run, leaseTTL)
	begin(t, third)
	if err := runlog.CheckLoss(t.Context(), third, 0); err != nil {
		t.Errorf("the loss was accepted: %v", err)
	}
	closeLog(t, third)
	remake(t, p, run, c.records[:2])
	reader, err := p.tryOpen(t, jetlog.Config{Conn: p.connect(t), Run: run, Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := runlog.CheckLoss(t.Context(), reader, 0); !errors.As(err, &loss) || loss.Lost() != 2 {
		t.Errorf("to be read: %v, want a loss of 2 records", err)
	}
	last, err := p.tryOpen(t, jetlog.Config{Conn: p.connect(t), Run: run, LeaseTTL: leaseTTL})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, last)
	if err := runlog.CheckLoss(t.Context(), last, 0); !errors.As(err, &loss) || loss.Lost() != 2 {
		t.Errorf("set back while nobody led: %v, want a loss of 2 records", err)
	}
	if want := fmt.Sprint("--accept-loss ", 2); !strings.Contains(loss.Error(), want) {
		t.Errorf("%v, want %q", loss, want)
	}
}
