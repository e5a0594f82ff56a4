package follow

import (
	"log/slog"
	"testing"
	"time"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
)

// A catch-up applies as many records at once as its pace allows, and stops at each state that the
// witness wants or whose digest is due.
func TestBatch(t *testing.T) {
	const dim, perturbations = 100, 10
	perRecord := func(d time.Duration) pace { return pace{applied: d, work: dim * perturbations} }
	tests := []struct {
		name    string
		pace    pace
		every   uint32 // digest_every
		snaps   uint64
		batches []uint64 // the last record of each batch
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
			plan := batchPlan(t, dim, perturbations, tt.every)
			first, records := roundsOf(plan, 130)
			want := replica.New(replica.Config{Run: plan.Run, Dim: plan.Dim})
			if _, err := want.ApplyAll(append([][]byte{first}, records...)); err != nil {
				t.Fatal(err)
			}
			f := follower(t, plan, first)
			if tt.snaps > 0 {
				f.cfg.Witness = every(tt.snaps)
			}
			live, last := f.course.path(131), uint64(131)
			for i, record := range records {
				f.pace = tt.pace
				was := f.replica.N()
				if err := f.advance(uint64(i)+2, record, live, last); err != nil {
					t.Fatal(err)
				}
				if n := f.replica.N(); n != was && len(tt.batches) > 0 {
					if n != tt.batches[0] {
						t.Fatalf("a batch ends after record %d, want %d", n, tt.batches[0])
					}
					tt.batches = tt.batches[1:]
				}
			}
			if err := f.applyBatch(last); err != nil || len(tt.batches) > 0 {
				t.Errorf("%v, batches to %d are missing", err, tt.batches)
			}
			if f.replica.N() != last || f.replica.Digest() != want.Digest() {
				t.Errorf("another state after record %d of %d", f.replica.N(), last)
			}
		})
	}
}

// every is a witness that wants the state after every so many records.
type every uint64

func (e every) Wants(n uint64) bool         { return n%uint64(e) == 0 }
func (e every) See(*Follower, uint64) error { return nil }

// batchPlan is the plan of a run that compares digests every so many records.
func batchPlan(t *testing.T, dim uint64, perturbations, every uint32) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound("decomfl", "bench", dim)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey, p.Perturbations, p.DigestEvery = make(plan.Bytes, 32), perturbations, every
	return p
}

// roundsOf returns record 1 of a plan and the given number of rounds.
func roundsOf(p *plan.Plan, rounds int) (first []byte, records [][]byte) {
	first = (&wire.Record{
		N: 1, Prev: wire.Genesis(p.Run), Kind: wire.KindPlan, Plan: p,
	}).Append(nil)
	prev := wire.HashRecord(first)
	for i := range uint64(rounds) {
		var scalars []float32
		for j := range p.Perturbations {
			scalars = append(scalars, float32(i%7)-float32(j))
		}
		record := wire.Record{N: i + 2, Prev: prev, Kind: wire.KindRound, Round: &wire.Round{
			Round: i + 1, StepSize: p.StepSize, Perturbations: p.Perturbations, Contributors: 1,
			Terms: []wire.Term{{Scalars: p.Precision.Append(nil, scalars...)}},
		}}
		b := record.Append(nil)
		records, prev = append(records, b), wire.HashRecord(b)
	}
	return first, records
}

// follower returns a follower that holds record 1.
func follower(t *testing.T, p *plan.Plan, first []byte) *Follower {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	f := New(Config{
		Run: p.Run, Replica: replica.Config{Run: p.Run, Dim: p.Dim, Workers: 1}, Logger: logger,
	})
	if err := f.Begin(first); err != nil {
		t.Fatal(err)
	}
	return f
}
