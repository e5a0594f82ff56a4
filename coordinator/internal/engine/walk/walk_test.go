// Package walk compares the engine with a frozen copy of itself, from before its parts were cut
// anew: both get the same random inputs, and say the same, byte for byte.
package walk

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/engine"
	frozen "github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/engine"
	"github.com/zofl/zofl/coordinator/internal/logindex"
	"github.com/zofl/zofl/coordinator/internal/policies"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

var (
	walks = flag.Int("walks", 350, "random walks")
	first = flag.Uint64("seed", 0, "of the first of them")
)

const steps = 120 // of a walk

// A walk has both engines and one log, which does what they say.
type walk struct {
	*testing.T
	rng    *rand.Rand
	fields []string
	theme  []string // the changes that an operator tries
	grows  bool     // the loss
	plan   *plan.Plan
	old    *frozen.Core
	now    *engine.Core
	log    *runlog.Memory
	time   uint64
	epoch  uint64
	hold   bool
	held   []engine.Output
	past   map[uint64]opened // by record
	fleet  fleet
	said   []string // inputs
	over   bool
	seen   *seen
}

// An opened is a round that was open.
type opened struct {
	tip                    wire.Tip
	scalars, perturbations int
}

// seen counts what the walks came by: one that meets nothing shows nothing.
type seen struct{ events map[string]int }

// TestWalks is the comparison. With -walks 10000 it takes minutes.
func TestWalks(t *testing.T) {
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
		"masked", "ended"} {
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

// restart has a new coordinator of each kind take over.
func (w *walk) restart() {
	epoch, err := w.log.Begin(context.Background())
	w.must(err)
	w.epoch, w.held = epoch, nil
	var a frozen.History
	var b engine.History
	for _, remember := range []func([]byte){a.Remember, b.Remember} {
		p, err := runlog.Replay(context.Background(), w.log, w.log.Last(), remember)
		w.must(err)
		a.Position = p
	}
	b.Position, err = runlog.Replay(context.Background(), w.log, w.log.Last(), func([]byte) {})
	w.must(err)
	a.Members, err = w.log.Members()
	w.must(err)
	a.Retired, err = w.log.Retired()
	w.must(err)
	b.Members, b.Retired = slices.Clone(a.Members), slices.Clone(a.Retired)
	random := func() *rand.ChaCha8 { return rand.NewChaCha8([32]byte{byte(epoch)}) }
	w.old, err = frozen.New(frozen.Config{Plan: w.plan, Epoch: epoch, Random: random(),
		Witnesses: []string{"witness"}}, &a)
	w.must(err)
	w.now, err = engine.New(engine.Config{Plan: w.plan, Epoch: epoch, Random: random(),
		Policies: policies.Of, Witnesses: []string{"witness"},
		Records: func(last uint64, each func([]byte)) error {
			return logindex.Records(context.Background(), w.log, last, each)
		}}, &b)
	w.must(err)
	w.seen.events["restart"]++
	w.compare(w.old.Start(w.time), w.now.Start(w.time))
}

func (w *walk) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("plan %v: %v", w.fields, err)
	}
}

// step hands an input to both, and compares what they say.
func (w *walk) step(in engine.Input) {
	w.said = append(w.said, fmt.Sprintf("%d: kind %d %s n=%d count=%d err=%v %x %+v", w.time,
		in.Kind, in.ID, in.N, in.Count, in.Err, in.Frame, in.Record))
	old := w.old.Step(w.time, frozen.Input{Kind: frozen.InputKind(in.Kind), ID: in.ID,
		Frame: slices.Clone(in.Frame), Token: in.Token, N: in.N, Count: in.Count, Err: in.Err,
		Text: in.Text, Record: in.Record})
	w.compare(old, w.now.Step(w.time, in))
}

// compare compares the outputs, and what can be asked for, and does what they say.
func (w *walk) compare(old []frozen.Output, now []engine.Output) {
	w.Helper()
	for i := range max(len(old), len(now)) {
		if i >= len(old) || i >= len(now) || !same(old[i], now[i]) {
			w.Errorf("output %d is\n%s, want\n%s", i, all(now, i), all(old, i))
			return
		}
	}
	if w.Failed() {
		return
	}
	w.look()
	for _, o := range slices.Clone(now) {
		w.do(o)
	}
	w.note()
}

func all[O any](outputs []O, from int) (text string) {
	for _, o := range outputs[min(from, len(outputs)):] {
		text += fmt.Sprintf("%+v\n", o)
	}
	return text
}

func same(a frozen.Output, b engine.Output) bool {
	return int(a.Kind) == int(b.Kind) && a.N == b.N && bytes.Equal(a.Frame, b.Frame) &&
		a.Token == b.Token && a.ID == b.ID && alike(a.Event, b.Event) &&
		fmt.Sprint(a.Err) == fmt.Sprint(b.Err) && reflect.DeepEqual(a.Object, b.Object) &&
		slices.Equal(a.Names, b.Names)
}

// alike compares two values, of which numbers that are none are alike.
func alike(a, b any) bool {
	return reflect.DeepEqual(a, b) || fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b)
}

// look compares what both tell those who ask.
func (w *walk) look() {
	at, ok := w.old.Wake()
	if now, really := w.now.Wake(); now != at || really != ok {
		w.Errorf("it wakes at %d, %v, want %d, %v", now, really, at, ok)
	}
	if w.rng.IntN(16) > 0 {
		return
	}
	a, b := w.old.Status(), w.now.Status()
	if !reflect.DeepEqual(a, b) {
		w.Errorf("the status is\n%+v, want\n%+v", b, a)
	}
	list, times := w.old.Devices(w.time)
	list2, times2 := w.now.Devices(w.time)
	if !alike(list, list2) || !alike(times, times2) {
		w.Errorf("the devices are\n%+v\n%+v, want\n%+v\n%+v", list2, times2, list, times)
	}
	if w.seen.events["cut"] += int(min(a.Counters.Cut, 1)); a.Counters.Faulty() != w.now.Faulty() {
		w.Errorf("%d are faulty, want %d", w.now.Faulty(), a.Counters.Faulty())
	}
}

// round has most devices answer.
func (w *walk) round() {
	for _, device := range w.rng.Perm(devices)[w.rng.IntN(3):] {
		if !w.over && !w.Failed() {
			w.step(w.fleet.act(w, device))
		}
	}
}

// note remembers the open round, for what comes late.
func (w *walk) note() {
	if p := w.old.Peek(); p.Open {
		w.past[w.old.N+1] = opened{w.old.Hash.Tip(), p.Scalars, p.Perturbations}
	}
}

// do does what an output says, if it can be done, or has it fail.
func (w *walk) do(o engine.Output) {
	switch o.Kind {
	case engine.OutAppend, engine.OutMember, engine.OutRetire:
		if w.hold {
			w.held = append(w.held, o)
			return
		}
		w.step(w.store(o))
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
		"vector": e.Kind == report.RoundDone && w.old.SendsVectors(),
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
	report.Unused: "unused", report.RunEnded: "ended"}

var errDisk = errors.New("no space left on device")

// store does what is to be stored, and returns the outcome.
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
