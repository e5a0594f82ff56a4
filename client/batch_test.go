package client

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/zofl/zofl/client/internal/shelf"
	"github.com/zofl/zofl/wire"
)

// A catch-up applies as many records at once as its pace makes short, and stops
// at each state that somebody may want to see.
func TestBatch(t *testing.T) {
	const dim, perturbations = 100, 10
	perRecord := func(d time.Duration) pace { return pace{applied: d, work: dim * perturbations} }
	tests := []struct {
		name    string
		pace    pace
		every   uint32 // digests
		snaps   uint64
		batches []uint64 // the record after each
	}{
		{"unknown pace", pace{}, 0, 0, []uint64{2}},
		{"fast", perRecord(time.Millisecond), 0, 0, []uint64{65, 129}},
		{"slow", perRecord(100 * time.Millisecond), 0, 0, []uint64{3, 5, 7}},
		{"too slow", perRecord(time.Second), 0, 0, []uint64{2, 3, 4}},
		{"digests", perRecord(time.Millisecond), 20, 0, []uint64{20, 40, 60}},
		{"snapshots", perRecord(time.Millisecond), 0, 30, []uint64{30, 60, 90}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStepper(t, newNull(dim, 1, 1), 1, func(p *wire.Plan) { p.DigestEvery = tt.every })
			records := s.log(t, 130)
			c := newStepper(t, newNull(dim, 1, 1), 1, func(p *wire.Plan) { p.DigestEvery = tt.every }).c
			if tt.snaps > 0 {
				c.cfg.Passive = &Passive{SnapshotEvery: tt.snaps}
				c.shelf = shelf.New(shelf.Config{Store: noStore{}, Logger: c.cfg.Logger})
				c.server.shelf = c.shelf
			}
			live, last := c.course.path(131), uint64(131)
			for i, record := range records {
				c.pace = tt.pace
				was := c.replica.N()
				if err := c.advance(uint64(i)+2, record, live, last); err != nil {
					t.Fatal(err)
				}
				if n := c.replica.N(); n != was && len(tt.batches) > 0 {
					if n != tt.batches[0] {
						t.Fatalf("a batch ends after record %d, want %d", n, tt.batches[0])
					}
					tt.batches = tt.batches[1:]
				}
			}
			if err := c.applyBatch(last); err != nil || len(tt.batches) > 0 {
				t.Errorf("%v, batches to %d are missing", err, tt.batches)
			}
			if c.replica.N() != last || c.replica.Digest() != s.c.replica.Digest() {
				t.Errorf("another state after record %d of %d", c.replica.N(), last)
			}
		})
	}
}

// noStore takes everything and has nothing.
type noStore struct{ Store }

func (noStore) Save(string, func(io.Writer) error) error { return nil }

// log makes so many rounds and returns their records.
func (s *stepper) log(tb testing.TB, rounds int) [][]byte {
	var records [][]byte
	for range rounds {
		s.step(tb)
		records = append(records, bytes.Clone(s.frame))
	}
	return records
}
