package source

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
)

// A denseChain makes the records of a run of surrogates, and their vectors.
type denseChain struct {
	*chain
	log   *runlog.Memory
	names []runlog.ObjectName
}

func newDenseChain(t *testing.T) *denseChain {
	t.Helper()
	p, err := preset.Unbound("fzoos", "kitchen", 5)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey, p.Features, p.DenseKeep = make(plan.Bytes, 32), 7, 4
	c := &denseChain{&chain{t: t, prev: wire.Genesis("kitchen")}, &runlog.Memory{}, nil}
	c.add(wire.Record{Kind: wire.KindPlan, Plan: p})
	return c
}

// phases adds rounds or single phases of rounds. Phase 1 has a vector of 5 elements, phase 2 a
// vector of 7.
func (c *denseChain) phases(n int) {
	c.t.Helper()
	for range n {
		c.rounds++ // of phases
		round, phase := (c.rounds+1)/2, uint8(2-c.rounds%2)
		data := make([]byte, 20+8*int(phase-1))
		for i := 0; i < len(data); i += 4 {
			binary.LittleEndian.PutUint32(data[i:], math.Float32bits(float32(len(c.records))))
		}
		digest := wire.HashObject(data)
		name := runlog.ObjectName{N: uint64(len(c.records)) + 1, Epoch: 1, Digest: digest}
		if err := c.log.PutObject(c.t.Context(), name, data); err != nil {
			c.t.Fatal(err)
		}
		c.names = append(c.names, name)
		c.add(wire.Record{Kind: wire.KindRound,
			Round: &wire.Round{Round: round, Phase: phase, StepSize: 0.1, Perturbations: 1,
				Contributors: 1, Object: digest[:]}})
	}
}

// source returns the log with the vectors of those records for which keep returns true.
func (c *denseChain) source(keep func(n uint64) bool) Source {
	c.t.Helper()
	var kept []runlog.ObjectName
	for _, o := range c.names {
		if keep(o.N) {
			kept = append(kept, o)
		}
	}
	if err := c.log.KeepObjects(c.t.Context(), math.MaxUint64, kept); err != nil {
		c.t.Fatal(err)
	}
	for i, r := range c.records {
		if err := c.log.Append(c.t.Context(), uint64(i)+1, r); err != nil {
			c.t.Fatal(err)
		}
	}
	return Stored(c.log, nil)
}

func all(uint64) bool { return true }

// TestReplayVectors: the last vector of each phase makes the state, whether Replay stops at each
// record or only at the last.
func TestReplayVectors(t *testing.T) {
	c := newDenseChain(t)
	c.phases(5)   // 2..6
	c.rollback(4) // 7, between two phases
	c.rounds = 3
	c.phases(3) // 8..10
	src := c.source(all)
	digests := map[uint64][32]byte{}
	_, err := Replay(t.Context(), src, Config{Every: 1,
		Each: func(n uint64, r *replica.Replica) error {
			if r != nil && len(r.Missing()) > 0 {
				t.Errorf("record %d lacks %v", n, r.Missing())
			} else if r != nil {
				digests[n] = r.Digest()
			}
			return nil
		}})
	if err != nil || len(digests) != 8 { // all but 5 and 6
		t.Fatalf("%v, %d digests", err, len(digests))
	}
	x := map[uint64]float32{4: 3, 5: 3, 6: 5, 7: 3, 8: 3, 9: 8, 10: 8}
	for n, want := range x {
		r, err := Replay(t.Context(), src, Config{At: n})
		if err != nil || r.Params()[4] != want {
			t.Errorf("record %d: %v, %v, want %v", n, r.Params(), err, want)
		}
		if digest, ok := digests[n]; ok && digest != r.Digest() {
			t.Errorf("record %d: another digest than on the way to the last", n)
		}
	}
}

// TestReplayGone: if a vector is gone, the error lists the records whose states the log can still
// give. A missing vector that the log should have is damage.
func TestReplayGone(t *testing.T) {
	c := newDenseChain(t)
	c.phases(9) // 2..10
	src := c.source(func(n uint64) bool { return n >= 7 && n != 9 })
	r, err := Replay(t.Context(), src, Config{At: 4})
	var gone *GoneError
	if !errors.As(err, &gone) || !errors.Is(err, runlog.ErrNoObject) || gone.N != 4 ||
		gone.Record != 3 || gone.Keep != 4 ||
		fmt.Sprint(gone.Whole) != "[1 8-10]" || r.N() != 4 || len(r.Missing()) != 2 {
		t.Errorf("record 4: %v, %+v", err, gone)
	}
	if r, err := Replay(t.Context(), src, Config{At: 8}); err != nil || r.Params()[0] != 7 {
		t.Errorf("record 8: %v", err)
	}
	if r, err := Replay(t.Context(), src, Config{}); !errors.Is(err, runlog.ErrCorrupt) ||
		r == nil {
		t.Errorf("a vector that is missing: %v, want %v", err, runlog.ErrCorrupt)
	}
	seen := 0
	_, err = Replay(t.Context(), src, Config{At: 8, Every: 1,
		Each: func(n uint64, r *replica.Replica) error {
			if whole := len(r.Missing()) == 0; whole != (n == 1 || n == 8) {
				t.Errorf("record %d: whole %v", n, whole)
			}
			seen++
			return nil
		}})
	if err != nil || seen != 8 {
		t.Errorf("%v, saw %d records", err, seen)
	}
	v, err := CheckVectors(t.Context(), src, 0)
	if err != nil || v.Right != 3 || v.Bytes != 20+20+28 && v.Bytes != 20+28+28 ||
		!slices.Equal(v.Missing, []uint64{9}) {
		t.Errorf("vectors %+v, %v, want that of record 9 missing", v, err)
	}
	if v, err := CheckVectors(t.Context(), src, 7); err != nil || v.Right != 1 ||
		len(v.Missing) > 0 {
		t.Errorf("vectors up to record 7: %+v, %v", v, err)
	}
}

// TestRetained: which vectors a log should keep after changes of dense_keep and after rollbacks.
func TestRetained(t *testing.T) {
	c := newDenseChain(t)
	want := func(at uint64, records ...uint64) {
		t.Helper()
		course, err := readCourse(t.Context(), c.source(all), at)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		for _, o := range course.Vectors() {
			got = append(got, o.N)
		}
		if !slices.Equal(got, records) {
			t.Errorf("record %d: kept %v, want %v", at, got, records)
		}
	}
	var change plan.Change
	if err := planfile.SetChange(&change, "dense_keep", "2"); err != nil {
		t.Fatal(err)
	}
	c.phases(6)                                                // 2..7
	c.add(wire.Record{Kind: wire.KindChange, Change: &change}) // 8
	c.phases(1)                                                // 9
	c.rollback(7)                                              // 10: four again
	c.rounds = 6
	c.phases(1)    // 11
	c.rollback(11) // 12
	c.phases(2)    // 13, 14
	c.rollback(13) // 15
	c.rounds = 8
	want(3, 2, 3)
	want(7, 4, 5, 6, 7)
	want(8, 4, 5, 6, 7)
	want(9, 7, 9)
	want(10, 7, 9)
	want(11, 7, 11)
	want(14, 7, 11, 13, 14)
	want(15, 7, 11, 13, 14)
	c.rollback(15) // 16: 14 is no part of that, either
	c.phases(1)    // 17
	want(16, 7, 11, 13, 14)
	want(17, 7, 11, 13, 17)
	if course, err := readCourse(t.Context(), c.source(all), 0); err != nil ||
		fmt.Sprint(course.whole()) != "[1 11-13 15-17]" {
		t.Errorf("whole are %v, %v", course.whole(), err)
	}
}

// A hurried source is led meanwhile: at first it has records up to some only, and later
// reads find no vector from before others.
type hurried struct {
	Source
	first, oldest uint64 // 0: all
	reads         int
}

func (h *hurried) Read(ctx context.Context, from uint64,
	f func(n uint64, record []byte) bool) error {
	h.reads++
	return h.Source.Read(ctx, from, func(n uint64, record []byte) bool {
		return (h.reads > 1 || h.first == 0 || n <= h.first) && f(n, record)
	})
}

func (h *hurried) Vector(ctx context.Context, name runlog.ObjectName) ([]byte, error) {
	if h.reads > 1 && name.N < h.oldest {
		return nil, runlog.ErrNoObject
	}
	return h.Source.Vector(ctx, name)
}

// TestLedMeanwhile: vectors that a coordinator deletes during the reading of its log are not
// damage, and Replay has fetched those that it needs.
func TestLedMeanwhile(t *testing.T) {
	c := newDenseChain(t)
	c.phases(9) // 2..10
	src := c.source(func(n uint64) bool { return n >= 7 })
	if r, err := Replay(t.Context(), &hurried{Source: src, first: 8, oldest: 10},
		Config{}); err != nil || r.N() != 8 {
		t.Errorf("replay: %v", err)
	}
	if v, err := CheckVectors(t.Context(), &hurried{Source: src, first: 8}, 0); err != nil ||
		v.Right != 2 || len(v.Missing) > 0 {
		t.Errorf("vectors %+v, %v, want 2 and none missing", v, err)
	}
}
