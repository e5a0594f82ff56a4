package logtest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// faults are ways to make a log wrong. The checks in by must fail for the log; lives counts how
// often a check has opened it.
var faults = []struct {
	name  string
	wrong func(f *faulty, lives int)
	by    []string
}{
	{"acknowledges a record that it does not store", func(f *faulty, _ int) {
		f.append = func(n uint64, record []byte) error {
			if n == 4 {
				return nil
			}
			return f.Memory.Append(context.Background(), n, record)
		}
	}, []string{"Append", "Conflict"}},
	{"loses the last record when it is opened again", func(f *faulty, lives int) {
		if lives > 1 {
			f.last = func() uint64 { return max(f.Memory.Last(), 1) - 1 }
			f.read = func(ctx context.Context, from uint64, each func(uint64, []byte) bool) error {
				last := f.last()
				return f.Memory.Read(ctx, from,
					func(n uint64, r []byte) bool { return n <= last && each(n, r) })
			}
		}
	}, []string{"Reopen"}},
	{"reads records in the wrong order", func(f *faulty, _ int) {
		f.read = func(ctx context.Context, from uint64, each func(uint64, []byte) bool) error {
			var records [][]byte
			err := f.Memory.Read(ctx, from, func(_ uint64,
				r []byte) bool {
				records = append(records, r)
				return true
			})
			first := max(from, 1)
			for i := range records {
				if !each(first+uint64(i), records[len(records)-1-i]) {
					break
				}
			}
			return err
		}
	}, []string{"Append"}},
	{"reads from the beginning, whatever was asked", func(f *faulty, _ int) {
		f.read = func(ctx context.Context, _ uint64, each func(uint64, []byte) bool) error {
			return f.Memory.Read(ctx, 1, each)
		}
	}, []string{"Append"}},
	{"reads on when it was told to stop", func(f *faulty, _ int) {
		f.read = func(ctx context.Context, from uint64, each func(uint64, []byte) bool) error {
			return f.Memory.Read(ctx, from, func(n uint64,
				r []byte) bool {
				each(n, r)
				return true
			})
		}
	}, []string{"Read"}},
	{"ignores the end of a context", func(f *faulty, _ int) {
		f.read = func(_ context.Context, from uint64, each func(uint64, []byte) bool) error {
			return f.Memory.Read(context.Background(), from, each)
		}
	}, []string{"ReadEnds"}},
	{"forgets the cause of a context", func(f *faulty, _ int) {
		f.read = func(ctx context.Context, from uint64, each func(uint64, []byte) bool) error {
			if err := f.Memory.Read(ctx, from, each); err != nil {
				return ctx.Err()
			}
			return nil
		}
	}, []string{"ReadEnds"}},
	{"takes any index for the next one", func(f *faulty, _ int) {
		f.append = func(n uint64, record []byte) error {
			return f.Memory.Append(context.Background(), max(min(n, f.Memory.Last()+1), 1), record)
		}
	}, []string{"Order"}},
	{"refuses out of order without ErrOrder", func(f *faulty, _ int) {
		f.append = func(n uint64, record []byte) error {
			err := f.Memory.Append(context.Background(), n, record)
			if err != nil && !errors.As(err, new(*runlog.ConflictError)) {
				return errors.New("no")
			}
			return err
		}
	}, []string{"Order"}},
	{"says nothing of a conflict", func(f *faulty, _ int) {
		f.append = func(n uint64, record []byte) error {
			err := f.Memory.Append(context.Background(), n, record)
			if errors.As(err, new(*runlog.ConflictError)) {
				return nil
			}
			return err
		}
	}, []string{"Conflict"}},
	{"returns the loser of a conflict", func(f *faulty, _ int) {
		f.append = func(n uint64, record []byte) error {
			err := f.Memory.Append(context.Background(), n, record)
			if errors.As(err, new(*runlog.ConflictError)) {
				return &runlog.ConflictError{N: n, Record: record}
			}
			return err
		}
	}, []string{"Conflict"}},
	{"takes a repetition for a conflict", func(f *faulty, _ int) {
		f.append = func(n uint64, record []byte) error {
			if n > 0 && n <= f.Memory.Last() {
				return &runlog.ConflictError{N: n, Record: bytes.Clone(record)}
			}
			return f.Memory.Append(context.Background(), n, record)
		}
	}, []string{"Repetition"}},
	{"keeps the caller's slice", func(f *faulty, _ int) {
		var records [][]byte
		f.append = func(n uint64, record []byte) error {
			if err := f.Memory.Append(context.Background(), n, record); err != nil {
				return err
			}
			records = append(records, record)
			return nil
		}
		f.read = func(ctx context.Context, from uint64, each func(uint64, []byte) bool) error {
			return f.Memory.Read(ctx, from, func(n uint64,
				_ []byte) bool {
				return each(n, records[n-1])
			})
		}
	}, []string{"Ownership"}},
	{"refuses long records", func(f *faulty, _ int) {
		f.append = func(n uint64, record []byte) error {
			if len(record) > 32<<10 {
				return errors.New("too long")
			}
			return f.Memory.Append(context.Background(), n, record)
		}
	}, []string{"Long"}},
	{"names a record before it can be read", func(f *faulty, _ int) {
		f.last = func() uint64 { return f.Memory.Last() + 1 }
	}, []string{"Empty", "ReadWhileAppending"}},
	{"retires strangers", func(f *faulty, _ int) {
		f.retire = func(id string) error {
			if err := f.Memory.Retire(context.Background(), id); !errors.Is(err,
				runlog.ErrNoMember) {
				return err
			}
			return nil
		}
	}, []string{"Retire"}},
	{"sorts members", func(f *faulty, _ int) {
		f.add = func(ids []string) error {
			return f.Memory.AddMembers(context.Background(), slices.Sorted(slices.Values(ids)))
		}
	}, []string{"Members"}},
	{"forgets the members of another life", func(f *faulty, lives int) {
		f.add = func(ids []string) error {
			if lives == 2 {
				return nil
			}
			return f.Memory.AddMembers(context.Background(), ids)
		}
	}, []string{"Reopen"}},
	{"forgets epochs when it is opened again", func(f *faulty, _ int) {
		epoch := uint64(0)
		f.begin = func(context.Context) (uint64, error) { epoch++; return epoch, nil }
	}, []string{"Begin"}},
	{"knows the epochs that began, and not the records'", func(f *faulty, lives int) {
		epoch := uint64(lives)
		f.begin = func(context.Context) (uint64, error) { epoch++; return epoch, nil }
	}, []string{"BeginAfterRecords"}},
	{"returns one epoch twice", func(f *faulty, _ int) {
		f.begin = func(ctx context.Context) (uint64, error) {
			epoch, err := f.Memory.Begin(ctx)
			return (epoch + 1) / 2, err
		}
	}, []string{"Begin"}},
	{"lets two lead", func(f *faulty, _ int) {
		f.lost = func() <-chan struct{} { return nil }
	}, []string{"TakeOver"}},
	{"keeps the first decisions", func(f *faulty, _ int) {
		f.decide = func(d runlog.Decisions) error {
			if old, err := f.Memory.Decisions(context.Background()); err != nil || !old.None() {
				return err
			}
			return f.Memory.Decide(context.Background(), d)
		}
	}, []string{"Decisions", "DecisionsTakeOver"}},
	{"keeps no handovers", func(f *faulty, _ int) {
		f.handing = func(wire.Tip, []byte) error { return nil }
	}, []string{"Handovers", "HandoversTakeOver"}},
	{"has the handover of a record that it lacks", func(f *faulty, _ int) {
		var last []byte
		f.handing = func(_ wire.Tip, state []byte) error { last = state; return nil }
		f.handed = func() ([]byte, error) { return last, nil }
	}, []string{"Handovers"}},
	{"is lost from the beginning", func(f *faulty, _ int) {
		lost := make(chan struct{})
		close(lost)
		f.lost = func() <-chan struct{} { return lost }
	}, []string{"Begin"}},
	{"acknowledges a vector that it does not store", func(f *faulty, _ int) {
		f.put = func(runlog.ObjectName, []byte) error { return nil }
	}, []string{"Objects", "KeepObjects"}},
	{"loses the end of a long vector", func(f *faulty, _ int) {
		f.object = func(name runlog.ObjectName) ([]byte, error) {
			data, err := f.Memory.Object(context.Background(), name)
			return data[:min(len(data), 100_000)], err
		}
	}, []string{"Objects"}},
	{"returns a vector of another name", func(f *faulty, _ int) {
		f.object = func(name runlog.ObjectName) ([]byte, error) {
			for _, other := range f.Memory.ObjectNames() {
				if other.N == name.N {
					return f.Memory.Object(context.Background(), other)
				}
			}
			return nil, runlog.ErrNoObject
		}
	}, []string{"Objects"}},
	{"has no word for a vector that is not there", func(f *faulty, _ int) {
		f.object = func(name runlog.ObjectName) ([]byte, error) {
			data, err := f.Memory.Object(context.Background(), name)
			if err != nil {
				return nil, errors.New("no")
			}
			return data, nil
		}
	}, []string{"Objects"}},
	{"keeps the caller's vector", func(f *faulty, _ int) {
		vectors := map[runlog.ObjectName][]byte{}
		f.put = func(name runlog.ObjectName, data []byte) error { vectors[name] = data; return nil }
		f.object = func(name runlog.ObjectName) ([]byte, error) { return vectors[name], nil }
	}, []string{"ObjectOwnership"}},
	{"deletes no vector", func(f *faulty, _ int) {
		f.keep = func(uint64, []runlog.ObjectName) error { return nil }
	}, []string{"KeepObjects"}},
	{"deletes vectors of later records", func(f *faulty, _ int) {
		f.keep = func(_ uint64, names []runlog.ObjectName) error {
			return f.Memory.KeepObjects(context.Background(), 1<<60, names)
		}
	}, []string{"KeepObjects"}},
	{"deletes vectors that it should keep", func(f *faulty, _ int) {
		f.keep = func(n uint64, _ []runlog.ObjectName) error {
			return f.Memory.KeepObjects(context.Background(), n, nil)
		}
	}, []string{"KeepObjects"}},
	{"forgets vectors when it is opened again", func(f *faulty, lives int) {
		if lives > 1 {
			f.object = func(runlog.ObjectName) ([]byte, error) { return nil, runlog.ErrNoObject }
		}
	}, []string{"ReopenObjects"}},
	{"does not know what epoch it is", func(f *faulty, lives int) {
		f.latest = func() uint64 { return 1 }
	}, []string{"LastEpoch"}},
	{"does not pass epochs", func(f *faulty, _ int) {
		f.passing = func(uint64) error { return nil }
	}, []string{"PassEpochs"}},
}

// TestFaults tests that the named checks fail for each wrong log.
func TestFaults(t *testing.T) {
	noticing := map[string]bool{}
	for _, fault := range faults {
		for _, name := range fault.by {
			noticing[name] = true
		}
		t.Run(strings.ReplaceAll(fault.name, " ", "-"), func(t *testing.T) {
			for _, c := range (&Config{}).checks() {
				if !slices.Contains(fault.by, c.name) {
					continue
				}
				stored, lives := &runlog.Memory{}, 0
				err := c.try(t.Context(), "faulty", func(context.Context) (runlog.Log, error) {
					lives++
					f := &faulty{Memory: stored}
					fault.wrong(f, lives)
					return f, nil
				})
				if err == nil {
					t.Errorf("%s did not notice it", c.name)
				}
			}
		})
	}
	for _, c := range (&Config{}).checks() {
		if !noticing[c.name] {
			t.Errorf("no fault shows that %s can fail", c.name)
		}
	}
}
