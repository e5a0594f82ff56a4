//go:build unix

package jetstream

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/runlog"
)

// copies checks that a log can be copied from a directory to a JetStream and back, that an
// interrupted copy continues, and that a copy that would mix two logs fails.
func copies(t *testing.T, p place, run string) {
	file := openFile(t)
	c := newChain(t, run)
	c.appendTo(file, 40)
	led := uint64(0)
	for range 5 {
		led = begin(t, file)
	}
	var ids []string
	for i := range 3000 {
		ids = append(ids, fmt.Sprint("d", i))
	}
	if err := file.AddMembers(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
	stream := p.open(t, run)
	cut, stop := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	err := runlog.Copy(cut, stream, file, func(n uint64) {
		if n == 25 {
			stop(interrupted)
		}
	})
	if !errors.Is(err, interrupted) || stream.Last() != 25 {
		t.Fatalf("got %v and %d records, want 25 and the interruption", err, stream.Last())
	}
	if err := runlog.Copy(t.Context(), stream, file, nil); err != nil {
		t.Fatal(err)
	}
	c.check(stream)
	c.check(p.open(t, run))
	taken := begin(t, stream)
	if taken <= led {
		t.Errorf("the copy begins with epoch %d, want one after %d", taken, led)
	}
	c.appendTo(stream, 5)

	back := openFile(t)
	seen := uint64(0)
	for range 2 { // the second copy has nothing to do
		if err := runlog.Copy(t.Context(), back, stream,
			func(n uint64) { seen = n }); err != nil || seen != 45 {
			t.Fatalf("copied %d records back: %v", seen, err)
		}
	}
	c.check(back)
	if got := begin(t, back); got <= taken {
		t.Errorf("the copy back begins with epoch %d, want one after %d", got, taken)
	}
	if got, err := back.Members(); err != nil || fmt.Sprint(got) != fmt.Sprint(ids) {
		t.Errorf("got %d members (%v), want %d", len(got), err, len(ids))
	}

	other := newChain(t, run)
	strange := openFile(t)
	other.add(other.next(9))
	if err := strange.Append(t.Context(), 1, other.records[0]); err != nil {
		t.Fatal(err)
	}
	crowded := openFile(t)
	if err := crowded.AddMembers(t.Context(), []string{"somebody"}); err != nil {
		t.Fatal(err)
	}
	for name, logs := range map[string][2]runlog.Log{
		"other records": {strange, stream}, "other members": {crowded, stream},
		"more records": {stream, file},
	} {
		if err := runlog.Copy(t.Context(), logs[0], logs[1],
			nil); !errors.Is(err, runlog.ErrOther) {
			t.Errorf("%s: got %v, want ErrOtherLog", name, err)
		}
	}
	c.check(stream)
}

func openFile(t *testing.T) runlog.Log {
	t.Helper()
	log, err := filelog.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeLog(t, log) })
	return log
}
