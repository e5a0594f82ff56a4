package filelog

import (
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
)

func TestCopyLog(t *testing.T) {
	records := chaintest.Records(t, 30)
	src := openLog(t, t.TempDir())
	chaintest.Append(t, src, records)
	ids := []string{"a", "b", "c"}
	if err := src.AddMembers(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
	for _, have := range []int{0, 1, 17, 30} {
		dst := &runlog.Memory{}
		chaintest.Append(t, dst, records[:have])
		if err := dst.AddMembers(t.Context(), ids[:have%4]); err != nil {
			t.Fatal(err)
		}
		next := uint64(1)
		err := runlog.Copy(t.Context(), dst, src, func(n uint64) {
			if n != next || dst.Last() < n {
				t.Errorf("progress(%d) with %d records copied, want progress(%d)", n, dst.Last(),
					next)
			}
			next++
		})
		if err != nil || next != 31 {
			t.Errorf("from %d: progress ended before %d: %v", have, next, err)
		}
		chaintest.Check(t, dst, records)
		if got, err := dst.Members(); err != nil || !slices.Equal(got, ids) {
			t.Errorf("from %d: members %v (%v), want %v", have, got, err, ids)
		}
	}
	chaintest.Check(t, src, records)
}

// The epochs of a copy continue those of the log, because devices know even coordinators that
// appended nothing.
func TestCopyLogKeepsEpochs(t *testing.T) {
	for _, src := range []runlog.Log{&runlog.Memory{}, openLog(t, t.TempDir())} {
		chaintest.Append(t, src, chaintest.Records(t, 3))
		last := uint64(0)
		for range 7 {
			var err error
			if last, err = src.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		dir := t.TempDir()
		dst, memory := openLog(t, dir), &runlog.Memory{}
		for _, to := range []runlog.Log{dst, memory} {
			if err := runlog.Copy(t.Context(), to, src, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := dst.Close(); err != nil {
			t.Fatal(err)
		}
		for _, to := range []runlog.Log{openLog(t, dir), memory} {
			if got, err := to.Begin(t.Context()); err != nil || got <= last {
				t.Errorf("%T to %T: Begin of the copy = %d, %v; want more than %d", src, to, got,
					err, last)
			}
		}
	}
}
