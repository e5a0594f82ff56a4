package simulation

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk/disktest"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/book"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/scenario"
)

// A finding is a violated invariant.
type finding struct {
	seed      uint64
	step      int
	invariant string
	text      string
}

func (f *finding) Error() string {
	return fmt.Sprintf("seed %d, step %d: %s: %s", f.seed, f.step, f.invariant, f.text)
}

// A world is one simulation.
type world struct {
	seed     uint64
	rng      *rand.Rand // for the scheduler's choices
	scenario *scenario.Scenario
	parties  []*party // coordinators, then devices
	activity chan struct{}
	calm     bool
	looked   time.Time // when an operator last looked at the run
	orders   []order   // commands that an operator is going to give
	reasons  int       // pauses that an operator asked for

	mu      sync.Mutex // guards what follows, and whatever says so
	net     network
	book    *book.Book
	server  *server
	script  transcript
	counts  map[string]int
	finding *finding // the first finding
}

// newWorld returns the world of a seed. If out is not nil, the world writes the transcript to out.
// If only is not empty, the seed has no other kind of fault; the world is nil if only does not fit
// the seed.
func newWorld(seed uint64, only string, out io.Writer) (*world, error) {
	w := &world{
		seed: seed, rng: rand.New(rand.NewPCG(seed, 0x5eed)), activity: make(chan struct{}, 1),
		net:    network{inboxes: map[string]*inbox{}, cuts: map[string]cut{}},
		script: transcript{out: out, began: time.Now()}, counts: map[string]int{},
	}
	var err error
	if w.scenario, err = scenario.Draw(w.rng, fitting()); err != nil {
		return nil, err
	}
	if only != "" && !focus(w.scenario, only) {
		return nil, nil
	}
	w.book = book.New(reporter{w}, w.scenario)
	w.server = &server{w: w}
	for i := range w.scenario.Coordinators {
		w.add(&party{name: fmt.Sprintf("c%d", i), broker: &broker{w: w}})
	}
	for i := range w.scenario.Devices {
		d := &device{w: w, id: scenario.DeviceName(i), objective: &countingLoss{w: w, device: i},
			old: i < w.scenario.Old}
		w.add(&party{name: d.id, device: d})
	}
	if w.scenario.Witness {
		d := &device{w: w, id: witnessName}
		w.add(&party{name: d.id, device: d})
	}
	return w, nil
}

func (w *world) add(p *party) {
	p.order, p.disk = len(w.parties), disktest.New()
	if p.device != nil {
		p.device.party = p
	} else {
		p.broker.party = p
	}
	w.parties = append(w.parties, p)
}

// find records a finding, unless the world has a finding already. The caller holds the lock.
func (w *world) find(invariant, format string, args ...any) {
	if w.finding == nil {
		w.finding = &finding{w.seed, w.script.step, invariant, fmt.Sprintf(format, args...)}
		w.note(nil, "FINDING: %s: %s", invariant, w.finding.text)
	}
}

// A reporter passes the findings of a book to the book's world.
type reporter struct{ w *world }

var _ book.World = reporter{}

// Find implements [World].
func (r reporter) Find(invariant, format string, args ...any) {
	r.w.find(invariant, format, args...)
}

// Found implements [World].
func (r reporter) Found() bool { return r.w.finding != nil }

// Count implements [World].
func (r reporter) Count(what string) { r.w.count(what) }

// Note implements [World].
func (r reporter) Note(by book.Process, format string, args ...any) {
	p, _ := by.(*process)
	r.w.note(p, format, args...)
}

// locked calls do while it holds w's lock.
func (w *world) locked(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

// count counts an occurrence of an event. The caller holds the lock.
func (w *world) count(what string) { w.counts[what]++ }

// signal tells the scheduler that an event waits to be chosen.
func (w *world) signal() {
	select {
	case w.activity <- struct{}{}:
	default:
	}
}

// run simulates until the run has ended on all devices, or until the first finding.
func (w *world) run() {
	w.mu.Lock()
	w.note(nil, "seed %d: %d devices, %d coordinators, members=%d target=%d quorum=%d rounds=%d",
		w.seed,
		w.scenario.Devices, w.scenario.Coordinators, w.scenario.Plan.Members, w.scenario.Plan.Target,
		w.scenario.Plan.Quorum, w.scenario.Plan.Rounds)
	w.mu.Unlock()
	for _, p := range w.parties {
		if d := p.device; d != nil && d.objective != nil &&
			d.objective.device >= w.scenario.Devices-w.scenario.Late {
			p.away = time.Now().Add(time.Duration(1+w.rng.IntN(60)) * time.Second)
		}
	}
	for range w.scenario.Steps {
		if w.settle(); w.done() {
			break
		}
		w.chaos()
	}
	if w.settle(); w.sound() {
		w.heal()
		w.finale()
	}
	w.stop()
}

// sound reports whether the world has no finding.
func (w *world) sound() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.finding == nil
}

// done reports whether the world has nothing more to do: there is a finding, or the run has ended.
func (w *world) done() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.finding != nil {
		return true
	}
	return w.book.Ended() &&
		!slices.ContainsFunc(w.parties, func(p *party) bool {
			return p.device != nil && !p.device.ended && (p.core || !w.calm) && !w.out(p)
		})
}

// out reports whether a device was retired.
func (w *world) out(p *party) bool { return p.device.left || w.book.Retired(p.name) }

// launch begins a life of a party.
func (w *world) launch(p *party) {
	if do := p.down; do != nil {
		p.down = nil
		do()
	}
	w.locked(func() { w.note(nil, "%s starts", p.name) })
	p.lives++
	p.faulty, p.written, p.astray, p.slow = p.broken, 0, 0, 0
	w.locked(func() { // until its fuse is set, it performs no operation
		p.p = w.start(p.name, p.order, p.lives, p.live)
		w.again(p)
	})
}

func (p *party) live(life *process) error {
	if p.broker != nil {
		return p.broker.live(life)
	}
	return p.device.live(life)
}

// settle waits until all parties have reacted, removes the dead parties and checks the living
// parties.
func (w *world) settle() {
	for {
		synctest.Wait()
		again := false
		for _, p := range w.parties {
			again = w.bury(p) || again
		}
		if !again {
			break
		}
	}
	kept := w.keptPause()
	after, planner := w.keptPlan()
	w.accused()
	w.mu.Lock()
	defer w.mu.Unlock()
	if kept > 0 {
		w.book.Paused(kept)
	}
	if after > 0 {
		w.book.Planned(after, planner)
	}
	w.net.arrange()
	w.server.arrange()
	for _, p := range w.parties {
		if d := p.device; d != nil && p.p != nil && d.c != nil {
			d.check()
		}
	}
	w.script.flush()
	w.script.step++
}

// bury ends the life of a party that crashed or returned, and reports whether it did.
func (w *world) bury(p *party) bool {
	life := p.p
	if life == nil {
		return false
	}
	w.mu.Lock()
	dead, quits := life.dead, life.quits && w.server.busy(life) == nil
	w.mu.Unlock()
	if !dead && !quits && !life.over() {
		return false
	}
	life.finish()
	w.mu.Lock()
	defer w.mu.Unlock()
	p.p = nil
	w.server.leave(life)
	if away := time.Now().Add(w.absence(p)); away.After(p.away) {
		p.away = away
	}
	if p.faulty || !w.scenario.Stored {
		// The last reply of the device may not be on its disk.
		w.book.Forget(p.name)
	}
	w.reopen(p, dead)
	if dead {
		w.note(nil, "%s is down", p.name)
		return true
	}
	w.judge(p, life.err)
	return true
}

// reopen puts a party's disk into the state that the party's next life finds.
func (w *world) reopen(p *party, dead bool) {
	if dead && p.damage == nil && w.rng.IntN(2) == 0 { // otherwise the log may forget what it had
		w.count("power cut")
		w.note(nil, "the power of %s is cut", p.name)
		p.disk.Crash(w.rng)
	} else {
		p.disk.Kill()
	}
}

// absence returns how long a party stays down.
func (w *world) absence(p *party) time.Duration {
	switch {
	case w.calm && p.core:
		return 0
	case w.calm:
		return time.Duration(10+w.rng.IntN(60)) * time.Second
	case p.loops > 0:
		return time.Duration(w.rng.IntN(1000)) * time.Millisecond
	}
	return scenario.Pick(w.rng, 0, time.Second, 10*time.Second, 2*time.Minute) +
		time.Duration(w.rng.IntN(1000))*time.Millisecond
}

// judge checks the error with which a party returned without a crash.
func (w *world) judge(p *party, err error) {
	w.note(nil, "%s returns: %v", p.name, err)
	switch {
	case errors.Is(err, errStopped):
	case p.device != nil && errors.Is(err, client.ErrRefused) && w.book.EverRetired(p.name):
		w.count("a retired device leaves")
		p.device.left = true
		p.away = time.Now().Add(never)
	case p.damage != nil && errors.Is(err, runlog.ErrCorrupt):
		w.count("a damaged log is refused")
		p.away, p.down = time.Now(), func() { w.repair(p) }
	case err != nil && p.faulty && !errors.Is(err, runlog.ErrCorrupt):
		w.count("gave up with a disk that fails")
	case err != nil:
		w.find("nobody gives up", "%s: %v", p.name, err)
	case p.device != nil:
		p.device.ended = true
		p.away = time.Now().Add(time.Hour)
		w.count("device ended")
	}
}

// lastCalls is longer than any call of a loss that ignores its context.
const lastCalls = 10 * time.Second

// stop ends all parties. A goroutine that remains is a leak, and the bubble of synctest reports it.
func (w *world) stop() {
	for _, p := range w.parties {
		if p.p != nil {
			w.mu.Lock()
			p.p.dead = true
			w.mu.Unlock()
			p.p.finish()
			p.p = nil
		}
	}
	<-time.After(lastCalls)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.script.flush()
}
