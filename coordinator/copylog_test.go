package coordinator

import (
	"context"
	"errors"
	"slices"
	"testing"
)

func TestCopyLog(t *testing.T) {
	records := chain(t, 30)
	src := openLog(t, t.TempDir())
	appendAll(t, src, records)
	ids := []string{"a", "b", "c"}
	if err := src.AddMembers(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
	for _, have := range []int{0, 1, 17, 30} {
		dst := &MemoryLog{}
		appendAll(t, dst, records[:have])
		dst.members = slices.Clone(ids[:have%4])
		next := uint64(1)
		err := CopyLog(t.Context(), dst, src, func(n uint64) {
			if n != next || dst.Last() < n {
				t.Errorf("progress(%d) with %d records copied, want progress(%d)", n, dst.Last(), next)
			}
			next++
		})
		if err != nil || next != 31 {
			t.Errorf("from %d: progress ended before %d: %v", have, next, err)
		}
		checkLog(t, dst, records)
		if got, err := dst.Members(); err != nil || !slices.Equal(got, ids) {
			t.Errorf("from %d: members %v (%v), want %v", have, got, err, ids)
		}
	}
	checkLog(t, src, records)
}

// A copy that was interrupted, or whose log refused a record, is continued.
func TestCopyLogResumes(t *testing.T) {
	records := chain(t, 20)
	src, dst := &MemoryLog{}, &MemoryLog{}
	appendAll(t, src, records)
	ctx, stop := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	err := CopyLog(ctx, dst, src, func(n uint64) {
		if n == 7 {
			stop(interrupted)
		}
	})
	if !errors.Is(err, interrupted) || dst.Last() != 7 {
		t.Errorf("got %d records and %v, want 7 and the interruption", dst.Last(), err)
	}
	full := errors.New("full")
	if err := CopyLog(t.Context(), fullLog{dst, 12, full}, src, nil); !errors.Is(err, full) || dst.Last() != 12 {
		t.Errorf("got %d records and %v, want 12 and that it is full", dst.Last(), err)
	}
	if err := CopyLog(t.Context(), dst, src, nil); err != nil {
		t.Error(err)
	}
	checkLog(t, dst, records)
}

// fullLog takes records up to last.
type fullLog struct {
	*MemoryLog
	last uint64
	err  error
}

func (f fullLog) Append(ctx context.Context, n uint64, record []byte) error {
	if n > f.last {
		return f.err
	}
	return f.MemoryLog.Append(ctx, n, record)
}

func TestCopyLogRefuses(t *testing.T) {
	records := chain(t, 5)
	other := slices.Clone(records)
	other[1] = append(slices.Clone(records[1]), 0)
	for name, tt := range map[string]struct {
		dst, src *MemoryLog
		want     error
	}{
		"more records":   {&MemoryLog{records: records}, &MemoryLog{records: records[:4]}, ErrOtherLog},
		"other records":  {&MemoryLog{records: other[:2]}, &MemoryLog{records: records}, ErrOtherLog},
		"more members":   {&MemoryLog{members: []string{"a"}}, &MemoryLog{records: records}, ErrOtherLog},
		"other members":  {&MemoryLog{members: []string{"a"}}, &MemoryLog{members: []string{"b", "a"}}, ErrOtherLog},
		"corrupt source": {&MemoryLog{}, &MemoryLog{records: other}, ErrCorrupt},
		"corrupt copy":   {&MemoryLog{records: [][]byte{other[1], records[1]}}, &MemoryLog{records: records}, ErrCorrupt},
	} {
		had := len(tt.dst.records)
		if err := CopyLog(t.Context(), tt.dst, tt.src, nil); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
		if tt.want == ErrOtherLog && len(tt.dst.records) != had {
			t.Errorf("%s: the copy was changed", name)
		}
	}
	lossy := fullLog{&MemoryLog{}, 3, nil} // says that it stored what it did not
	if err := CopyLog(t.Context(), lossy, &MemoryLog{records: records}, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a copy that lost records: got %v, want ErrCorrupt", err)
	}
}

// Epochs go on where the log that was copied left off: devices have heard of
// coordinators that appended nothing.
func TestCopyLogKeepsEpochs(t *testing.T) {
	for _, src := range []Log{&MemoryLog{}, openLog(t, t.TempDir())} {
		appendAll(t, src, chain(t, 3))
		last := uint64(0)
		for range 7 {
			var err error
			if last, err = src.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		dir := t.TempDir()
		dst, memory := openLog(t, dir), &MemoryLog{}
		for _, to := range []Log{dst, memory} {
			if err := CopyLog(t.Context(), to, src, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := dst.Close(); err != nil {
			t.Fatal(err)
		}
		for _, to := range []Log{openLog(t, dir), memory} {
			if got, err := to.Begin(t.Context()); err != nil || got <= last {
				t.Errorf("%T to %T: Begin of the copy = %d, %v; want more than %d", src, to, got, err, last)
			}
		}
	}
}

// A copy during which another coordinator led may lack what that one added.
func TestCopyLogLosesTheLead(t *testing.T) {
	records := chain(t, 6)
	for _, of := range []string{"source", "copy"} {
		logs := map[string]*MemoryLog{"source": {}, "copy": {}}
		appendAll(t, logs["source"], records[:5])
		rival := func() {
			if _, err := logs[of].Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, log := range logs {
			if _, err := log.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		err := CopyLog(t.Context(), logs["copy"], logs["source"], func(n uint64) {
			if n == 2 {
				rival()
			}
		})
		if !errors.Is(err, ErrDeposed) {
			t.Errorf("another coordinator led the %s: %v, want ErrDeposed", of, err)
		}
	}
}
