package runlog

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
)

// A second call of Copy continues a copy that was interrupted, or whose target refused a record.
func TestCopyLogResumes(t *testing.T) {
	records := chaintest.Records(t, 20)
	src, dst := &Memory{}, &Memory{}
	chaintest.Append(t, src, records)
	ctx, stop := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	err := Copy(ctx, dst, src, func(n uint64) {
		if n == 7 {
			stop(interrupted)
		}
	})
	if !errors.Is(err, interrupted) || dst.Last() != 7 {
		t.Errorf("got %d records and %v, want 7 and the interruption", dst.Last(), err)
	}
	full := errors.New("full")
	if err := Copy(t.Context(), fullLog{dst, 12, full}, src, nil); !errors.Is(err, full) ||
		dst.Last() != 12 {
		t.Errorf("got %d records and %v, want 12 and that it is full", dst.Last(), err)
	}
	if err := Copy(t.Context(), dst, src, nil); err != nil {
		t.Error(err)
	}
	chaintest.Check(t, dst, records)
}

// A fullLog refuses records after last.
type fullLog struct {
	*Memory
	last uint64
	err  error
}

func (f fullLog) Append(ctx context.Context, n uint64, record []byte) error {
	if n > f.last {
		return f.err
	}
	return f.Memory.Append(ctx, n, record)
}

func TestCopyLogRefuses(t *testing.T) {
	records := chaintest.Records(t, 5)
	other := slices.Clone(records)
	other[1] = append(slices.Clone(records[1]), 0)
	for name, tt := range map[string]struct {
		dst, src *Memory
		want     error
	}{
		"more records":  {&Memory{records: records}, &Memory{records: records[:4]}, ErrOther},
		"other records": {&Memory{records: other[:2]}, &Memory{records: records}, ErrOther},
		"more members":  {&Memory{members: []string{"a"}}, &Memory{records: records}, ErrOther},
		"other members": {&Memory{members: []string{"a"}}, &Memory{members: []string{"b", "a"}},
			ErrOther},
		"corrupt source": {&Memory{}, &Memory{records: other}, ErrCorrupt},
		"corrupt copy": {&Memory{records: [][]byte{other[1], records[1]}},
			&Memory{records: records}, ErrCorrupt},
	} {
		had := len(tt.dst.records)
		if err := Copy(t.Context(), tt.dst, tt.src, nil); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
		if tt.want == ErrOther && len(tt.dst.records) != had {
			t.Errorf("%s: the copy was changed", name)
		}
	}
	lossy := fullLog{&Memory{}, 3, nil} // acknowledges what it does not store
	if err := Copy(t.Context(), lossy, &Memory{records: records}, nil); !errors.Is(err,
		ErrCorrupt) {
		t.Errorf("a copy that lost records: got %v, want ErrCorrupt", err)
	}
}

// If another coordinator led during a copy, Copy returns an error, because the copy may lack its
// records.
func TestCopyLogLosesTheLead(t *testing.T) {
	records := chaintest.Records(t, 6)
	for _, of := range []string{"source", "copy"} {
		logs := map[string]*Memory{"source": {}, "copy": {}}
		chaintest.Append(t, logs["source"], records[:5])
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
		err := Copy(t.Context(), logs["copy"], logs["source"], func(n uint64) {
			if n == 2 {
				rival()
			}
		})
		if !errors.Is(err, ErrDeposed) {
			t.Errorf("another coordinator led the %s: %v, want ErrDeposed", of, err)
		}
	}
}
