package compact_test

import (
	"bytes"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// An example is an announcement and a record that a short frame must carry.
type example struct {
	name   string
	a      wire.Announcement
	record wire.Record
}

var prev = wire.HashRecord([]byte("the record before"))

// recipe returns an example with 10 contributors of 100 members. Each contributor has 19 scalars of
// 4 bits and a scale of 2 bytes.
func recipe() example {
	e := example{name: "recipe", a: wire.Announcement{N: 401, Epoch: 1, Left: 30000,
		Cohort: wire.Cohort{Sampled: 10, Members: 100}, StepSize: 1e-3, Perturbations: 19}}
	e.record = wire.Record{N: 400, Prev: prev, Epoch: 1, Kind: wire.KindRound, Round: &wire.Round{
		Round: 399, StepSize: 1e-3, Perturbations: 19, Contributors: 10}}
	for i, slot := range []uint32{3, 14, 15, 28, 41, 59, 60, 77, 90, 99} {
		e.add(0, slot+1, 12, byte(i))
	}
	return e
}

func (e *example) add(back uint64, source uint32, size int, fill byte) {
	e.record.Round.Terms = append(e.record.Round.Terms, wire.Term{Back: back, Source: source,
		Scalars: bytes.Repeat([]byte{fill}, size)})
}

// examples returns examples that together have every field that a frame can have.
func examples() []example {
	list := []example{recipe()}
	with := func(name string, edit func(*example, *wire.Round)) {
		e := recipe()
		e.name = name
		edit(&e, e.record.Round)
		list = append(list, e)
	}
	with("step", func(_ *example, r *wire.Round) { r.StepSize = 0.25 })
	with("factor", func(_ *example, r *wire.Round) { r.Factor = 0.75 })
	with("perturbations", func(_ *example, r *wire.Round) { r.Perturbations = 300 })
	with("attempts", func(e *example, r *wire.Round) { e.a.Attempt, r.Attempt = 2, 70000 })
	with("epoch", func(e *example, _ *wire.Round) { e.a.Epoch = 9 })
	with("contributors", func(_ *example, r *wire.Round) { r.Contributors = 300 })
	with("weights", func(_ *example, r *wire.Round) {
		r.Weights = []uint32{1, 2, 3, 4, 5, 600, 7, 8, 9, plan.MaxWeight}
	})
	with("late", func(e *example, r *wire.Round) {
		e.add(1, 2, 12, 30)
		e.add(1, 100, 12, 31)
		e.add(7, 1, 24, 32)
		r.Contributors = 13
	})
	with("late, weights", func(e *example, r *wire.Round) {
		e.add(300, 50, 12, 30)
		r.Contributors, r.Weights = 11, []uint32{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9}
	})
	with("rest", func(e *example, _ *wire.Round) {
		e.a.Rest = wire.Tail(wire.Reference{N: 384, Tip: wire.Tip{1}}, nil, false)
	})
	with("groups", func(e *example, r *wire.Round) { // the next round asks slots 0, 1, 300, and 5
		e.a.Rest = []byte("\x90\x90\x91\xc4\x08\x03\x00\x00\xaa\x02\x00\x01\x05")
		r.Terms, e.a.Cohort.Sampled = nil, 4
		for group := range uint32(3) {
			e.add(0, group+1, 38, byte(group))
		}
	})
	with("everybody", func(e *example, r *wire.Round) {
		e.a.Cohort.Members, r.Terms = 3, nil
		for slot := range uint32(3) {
			e.add(0, slot+1, 2, byte(slot))
		}
		r.Contributors = 3
	})
	with("shared", func(e *example, r *wire.Round) {
		r.Terms, r.Contributors = nil, 4000
		e.add(0, 0, 38, 7)
	})
	with("far", func(e *example, r *wire.Round) {
		e.a.Cohort.Members, r.Terms = plan.MaxMembers, nil
		e.add(0, 1, 12, 1)
		e.add(0, plan.MaxMembers, 12, 2)
		r.Contributors = 2
	})
	with("rollbacks before", func(e *example, r *wire.Round) { r.Round = 3 })
	return list
}

func encode(t testing.TB, e *example) (frame, record []byte) {
	t.Helper()
	record = e.record.Append(nil)
	if _, err := wire.DecodeRecord(record); err != nil {
		t.Fatalf("%s: %v", e.name, err)
	}
	frame, ok := compact.Append([]byte("before"), &e.a, record)
	if !ok || !bytes.HasPrefix(frame, []byte("before")) {
		t.Fatalf("%s: no compact form: %x", e.name, frame)
	}
	return frame[len("before"):], record
}

// plain returns the announcement of e in the long form of package wire.
func plain(e *example) []byte {
	a := e.a
	a.Records.Add(e.record.Append(nil))
	return a.Append(nil)
}
