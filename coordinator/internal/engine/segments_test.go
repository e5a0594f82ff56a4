package engine

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/catchup"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

func TestCatchUpOfAGrowingLog(t *testing.T) {
	records := chaintest.LongRecords(t, 700, 200)
	log := &runlog.Memory{}
	chaintest.Append(t, log, records[:2])
	if err := log.AddMembers(t.Context(), ids(2)); err != nil {
		t.Fatal(err)
	}
	c, err := newCore(t.Context(), nil, log, 2)
	if err != nil {
		t.Fatal(err)
	}
	cfg := catchup.Config{Logger: slog.New(slog.DiscardHandler)}
	s := catchup.NewCatchUps(cfg, log, 1<<20, func(n uint64) (catchup.Span, uint64) {
		if n > c.N {
			return catchup.Span{}, c.N
		}
		return c.Segments.Find(n), c.N
	})
	for n := uint64(2); n < 700; n++ {
		first := c.Segments.Find(n).First
		reply, err := s.Records(t.Context(), first, wire.MaxFrame)
		if err != nil || uint64(reply.Records.Len()) != n-first+1 {
			t.Fatalf("log of %d records, from %d: %d records, %v", n, first, reply.Records.Len(),
				err)
		}
		if none, err := s.Records(t.Context(), n+1, wire.MaxFrame); err != nil ||
			none.Records.Len() != 0 || none.Last != n {
			t.Fatalf("log of %d records, from %d: %+v, %v", n, n+1, none, err)
		}
		chaintest.Append(t, log, records[n:n+1])
		if _, err := c.move(records[n]); err != nil {
			t.Fatal(err)
		}
	}
	// After a restart the segments have the same borders.
	again, err := newCore(t.Context(), nil, log, 3)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(again.Segments) != fmt.Sprint(c.Segments) || c.Segments.Count() < 3 {
		t.Errorf("segments %v, after a restart %v", c.Segments, again.Segments)
	}
}
