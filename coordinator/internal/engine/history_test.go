package engine_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/engine"
	"github.com/zofl/zofl/coordinator/internal/logindex"
	"github.com/zofl/zofl/coordinator/internal/policies"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

var (
	walks = flag.Int("walks", 150, "random walks")
	first = flag.Uint64("seed", 0, "of the first of them")
)

const steps = 120 // of a walk

// A walk has an engine and its log, and performs the engine's outputs.
type walk struct {
	*testing.T
	rng     *rand.Rand
	fields  []string
	theme   []string // the changes that an operator tries
	grows   bool     // the loss
	plan    *plan.Plan
	now     *engine.Core
	log     *runlog.Memory
	time    uint64
	epoch   uint64
	hold    bool
	held    []engine.Output
	handing []byte            // with the next record
	past    map[uint64]opened // by record
	fleet   fleet
	said    []string // inputs
	over    bool
	seen    *seen
}

// An opened is a round that was open.
type opened struct {
	tip                    wire.Tip
	scalars, perturbations int
}

// seen counts the events of the walks, because a walk without events would test nothing.
type seen struct{ events map[string]int }

// TestHistories walks through random plans, inputs, changes and restarts.
func TestHistories(t *testing.T) {
	seen := &seen{events: map[string]int{}}
	for seed := *first; seed < *first+uint64(*walks); seed++ {
		w := newWalk(t, seed, seen)
		for range steps {
			if w.over || t.Failed() {
				break
			}
			if w.step(w.next()); w.rng.IntN(6) == 0 {
				w.round()
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d, plan %v: the last inputs were\n%s", seed, w.fields,
				strings.Join(w.said[max(0, len(w.said)-12):], "\n"))
		}
	}
	t.Log(seen.events)
	for _, what := range []string{"round", "phase", "late", "changed", "rolled back", "surveyed",
		"adopted", "paused", "resumed", "cut", "lost", "referred", "evaluated", "restart", "vector",
		"masked", "ended", "best"} {
		if seen.events[what] == 0 {
			t.Errorf("no walk came by %q", what)
		}
	}
}

func newWalk(t *testing.T, seed uint64, seen *seen) *walk {
	w := &walk{T: t, rng: rand.New(rand.NewPCG(seed, 11)), log: &runlog.Memory{}, seen: seen,
		past: map[uint64]opened{}}
	w.theme, w.grows = themes[w.rng.IntN(len(themes))], w.rng.IntN(5) == 0
	w.plan = w.draw(seed)
	w.restart()
	for i := range devices {
		w.step(w.join(i))
	}
	return w
}

// restart makes a new coordinator of each kind take over.
func (w *walk) restart() {
	before := w.now
	epoch, err := w.log.Begin(context.Background())
	w.must(err)
	w.epoch, w.held = epoch, nil
	var b engine.History
	w.must(b.Load(context.Background(), w.log))
	random := func() *rand.ChaCha8 { return rand.NewChaCha8([32]byte{byte(epoch)}) }
	w.now, err = engine.New(engine.Config{Plan: w.plan, Epoch: epoch, Random: random(),
		Policies: policies.Of, Witnesses: []string{"witness"},
		Handover: func() ([]byte, error) { return w.log.HandedOver(context.Background()) },
		Records: func(last uint64, each func([]byte)) error {
			return logindex.Records(context.Background(), w.log, last, each)
		}}, &b)
	w.must(err)
	if before != nil {
		s := w.now.Status()
		if b := before.Status().Best; w.now.N == before.N && fmt.Sprint(b) != fmt.Sprint(s.Best) {
			w.Errorf("the best was %v, and is %v after a restart", b, s.Best)
		}
	}
	w.seen.events["restart"]++
	w.check(w.now.Start(w.time))
}

func (w *walk) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("plan %v: %v", w.fields, err)
	}
}

// step passes an input to both coordinators, and compares their outputs.
func (w *walk) step(in engine.Input) {
	w.said = append(w.said, fmt.Sprintf("%d: kind %d %s n=%d count=%d err=%v %x %+v", w.time,
		in.Kind, in.ID, in.N, in.Count, in.Err, in.Frame, in.Record))
	w.check(w.now.Step(w.time, in))
}

// check checks that a record of the engine can follow the log's records, that a follower of the log
// has the engine's position, and that the status makes sense. Then check performs the outputs.
func (w *walk) check(outputs []engine.Output) {
	w.Helper()
	for _, o := range outputs {
		if o.Kind == engine.OutAppend {
			next := w.now.Position
			if _, err := next.Apply(o.Frame); err != nil {
				w.Errorf("record %d is no next one: %v", o.N, err)
			}
		}
	}
	follower, err := runlog.Replay(context.Background(), w.log, w.now.N, func([]byte) {})
	w.must(err)
	if got, want := stand(&follower), stand(&w.now.Position); w.now.N > 0 && got != want {
		w.Errorf("a follower of the log stands at\n%s, want\n%s", got, want)
	}
	if at, ok := w.now.Wake(); ok && at+1 == 0 {
		w.Errorf("it wakes at %d", at)
	}
	s := w.now.Status()
	list, times := w.now.Devices(w.time)
	if len(list) != len(times) || s.N != w.now.N || s.Counters.Faulty() != w.now.Faulty() {
		w.Errorf("%d devices, %d times, status %+v", len(list), len(times), s)
	}
	if b := s.Best; b != nil && (b.N > w.now.N || !w.now.Path()[b.N-1]) {
		w.Errorf("the best model is after record %d, which no longer counts", b.N)
	}
	w.seen.events["cut"] += int(min(s.Counters.Cut, 1))
	if w.Failed() {
		return
	}
	for _, o := range slices.Clone(outputs) {
		w.do(o)
	}
	w.note()
}

// stand describes the position of a log.
func stand(p *runlog.Position) string {
	return fmt.Sprintf("%d %v %d %+v %+v %+v %+v %v", p.N, p.Hash, p.Rounds, p.Point, p.LastStep,
		p.Squares, p.Plan, p.End != nil)
}

// round makes most devices answer.
func (w *walk) round() {
	for _, device := range w.rng.Perm(devices)[w.rng.IntN(3):] {
		if !w.over && !w.Failed() {
			w.step(w.fleet.act(w, device))
		}
	}
}

// note remembers the open round, for late contributions to it.
func (w *walk) note() {
	if p := w.now.Peek(); p.Open {
		w.past[w.now.N+1] = opened{w.now.Hash.Tip(), p.Scalars, p.Perturbations}
	}
}

// do performs an output, or makes it fail.
func (w *walk) do(o engine.Output) {
	switch o.Kind {
	case engine.OutAppend, engine.OutMember, engine.OutRetire:
		if w.hold {
			w.held = append(w.held, o)
			return
		}
		w.step(w.store(o))
	case engine.OutHandOver:
		w.handing = o.Frame
	case engine.OutDecide:
		err := w.log.Decide(context.Background(), *o.Decisions)
		w.step(engine.Input{Kind: engine.InDecided, Err: err})
	case engine.OutKeep:
		w.must(w.log.KeepObjects(context.Background(), o.N, o.Names))
	case engine.OutRespond:
		w.fleet.answer(w, o)
	case engine.OutEvent:
		w.count(o.Event)
	case engine.OutFail:
		w.over = w.rng.IntN(2) == 0
		if !w.over && errors.Is(o.Err, runlog.ErrDeposed) {
			w.restart()
		} else {
			w.over = true
		}
	}
}

func (w *walk) count(e *report.Event) {
	w.seen.events[names[e.Kind]]++
	for what, is := range map[string]bool{"late": e.Late > 0,
		"vector": e.Kind == report.RoundDone && w.now.SendsVectors(),
		"masked": e.Kind == report.RoundDone && w.plan.Secure > 0} {
		if is {
			w.seen.events[what]++
		}
	}
	w.over = w.over || e.Kind == report.RunEnded
}

var names = map[report.EventKind]string{report.RoundDone: "round", report.PhaseDone: "phase",
	report.Changed: "changed", report.RolledBack: "rolled back", report.Surveyed: "surveyed",
	report.Adopted: "adopted", report.RunPaused: "paused", report.RunResumed: "resumed",
	report.Lost: "lost", report.Referred: "referred", report.Evaluated: "evaluated",
	report.Improved: "best",
	report.Unused:   "unused", report.Suspected: "suspected", report.RunEnded: "ended"}

var errDisk = errors.New("no space left on device")

// store performs an output that stores something, and returns the outcome.
func (w *walk) store(o engine.Output) engine.Input {
	fate := w.rng.IntN(40)
	switch {
	case o.Kind == engine.OutRetire:
		return engine.Input{Kind: engine.InRetired, ID: o.ID,
			Err: w.log.Retire(context.Background(), o.ID)}
	case o.Kind == engine.OutMember && fate == 0: // and so do those behind it
		w.held = slices.DeleteFunc(w.held,
			func(o engine.Output) bool { return o.Kind == engine.OutMember })
		return engine.Input{Kind: engine.InStoreFailed, Count: 1, Err: errDisk}
	case o.Kind == engine.OutMember:
		w.must(w.log.AddMembers(context.Background(), []string{o.ID}))
		return engine.Input{Kind: engine.InStored, Count: 1}
	case fate == 0:
		return engine.Input{Kind: engine.InAppendFailed, N: o.N, Err: errDisk}
	case fate == 1:
		w.foreign(o.N)
	}
	if o.Object != nil {
		w.must(w.log.PutObject(context.Background(), o.Object.Name, o.Object.Data))
	}
	if w.handing != nil {
		tip := wire.HashRecord(o.Frame).Tip()
		w.must(w.log.HandOver(context.Background(), o.N, tip, w.handing))
	}
	err := w.log.Append(context.Background(), o.N, o.Frame)
	var conflict *runlog.ConflictError
	switch {
	case errors.As(err, &conflict):
		return engine.Input{Kind: engine.InConflict, N: o.N, Frame: conflict.Record}
	case fate == 2:
		return engine.Input{Kind: engine.InAppendFailed, N: o.N, Err: errDisk}
	}
	w.must(err)
	return engine.Input{Kind: engine.InAppended, N: o.N}
}
