// Package book records the true history of a simulated run, and finds violations of the invariants.
package book

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/scenario"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/secagg"
)

// A World receives the findings of a book.
type World interface {
	Find(invariant, format string, args ...any)  // an invariant is violated
	Found() bool                                 // a finding was reported before
	Count(what string)                           // counts an occurrence of what
	Note(by Process, format string, args ...any) // for the transcript; by may be nil
}

// A Process is one life of a party. Two equal values are the same process.
type Process fmt.Stringer

// A Book is the knowledge of a simulation about the run: the records of the log, the states that
// the records make, and the messages sent. A Book checks the invariants after each event. The lock
// of the book's world guards the whole book.
type Book struct {
	world    World
	scenario *scenario.Scenario
	chain    []entry          // the records of the log
	truth    *replica.Replica // replica of a prefix of the log; nil: of none
	epoch    uint64           // the largest epoch begun
	gone     uint64           // the largest index that the log ever lost
	begun    map[uint64]Process
	states   map[uint64][]state // after record n, in all versions of the log
	tips     map[uint64][]wire.Tip

	made     map[answer]map[uint64]bool // epochs of the coordinators that each contribution reached
	surveys  map[answer]bool            // contributions that answer a survey
	standing map[string]reply           // last reply of each device
	members  []string                   // admitted to the log, by slot
	lenient  bool                       // the log lost a change, see Lost
	vectors  vectors
	losses   losses
	orders   orders
	masks    masks
}

// An entry is a record of the log.
type entry struct {
	bytes  []byte
	record wire.Record
	hash   wire.Hash

	counted []answer // the contributions that a round counts
}

// A state is a replica's state after a record.
type state struct {
	digest [32]byte
	tip    wire.Tip
	params []float32
}

// An answer identifies a contribution.
type answer struct {
	device string
	n      uint64
	tip    wire.Tip
	group  int // see groupOf
}

// A reply is the last contribution of a device, until the device sends another contribution.
type reply struct {
	answer
	frame []byte
}

// New returns the book of a run without any event.
func New(w World, s *scenario.Scenario) *Book {
	return &Book{
		world: w, scenario: s, begun: map[uint64]Process{},
		states: map[uint64][]state{}, tips: map[uint64][]wire.Tip{},
		made: map[answer]map[uint64]bool{}, surveys: map[answer]bool{},
		standing: map[string]reply{}, vectors: newVectors(), losses: newLosses(), orders: newOrders(),
		masks: masks{unmasked: map[string]secagg.Request{}},
	}
}

// Begin records that a coordinator has begun an epoch.
func (b *Book) Begin(p Process, epoch uint64) {
	b.world.Note(p, "begins epoch %d after record %d", epoch, len(b.chain))
	if epoch <= b.epoch {
		b.world.Find("epochs ascend", "%v begins epoch %d, %d was begun before", p, epoch, b.epoch)
	}
	for name := range b.vectors.there {
		if name.N > uint64(len(b.chain)) {
			b.world.Count("vector without its record")
		}
	}
	b.epoch = max(b.epoch, epoch)
	b.begun[epoch] = p
}

// Commit records that the log has accepted another record.
func (b *Book) Commit(record []byte) {
	n := uint64(len(b.chain)) + 1
	r, err := wire.DecodeRecord(record)
	if err != nil {
		b.world.Find("records decode", "record %d: %v", n, err)
		return
	}
	e := entry{bytes: bytes.Clone(record), record: r, hash: wire.HashRecord(record)}
	prev, epoch := wire.Genesis(scenario.RunName), uint64(1)
	if n > 1 {
		prev, epoch = b.chain[n-2].hash, b.chain[n-2].record.Epoch
	}
	switch {
	case r.N != n:
		b.world.Find("one record per index", "the record after %d says that it is record %d", n-1, r.N)
	case r.Prev != prev:
		b.world.Find("the chain is valid", "record %d does not follow record %d", n, n-1)
	case r.Epoch < epoch || b.begun[r.Epoch] == nil:
		b.world.Find("epochs ascend", "record %d is of epoch %d, after one of %d", n, r.Epoch, epoch)
	case r.Kind == wire.KindRound:
		e.counted = b.round(&r)
	case r.Kind == wire.KindChange && b.plan().StepAuto+b.plan().MuAuto > 0:
		b.surveyed(&r)
	}
	b.lasts(&r)
	b.obeys(&r)
	delete(b.losses.cut, e.hash.Tip()) // the log accepted the record after all
	b.chain = append(b.chain, e)
	b.world.Count("record " + r.Kind.String())
	b.world.Note(nil, "    record %d is in the log: %v, epoch %d", n, r.Kind, r.Epoch)
	if !b.world.Found() {
		b.lacking()
		b.grow(n)
	}
}

// grow records the state after the last record.
func (b *Book) grow(n uint64) {
	r, err := b.truth, error(nil)
	if r != nil && r.N() == n-1 && b.chain[n-1].record.Kind != wire.KindRollback {
		if err = r.Apply(b.chain[n-1].bytes); err == nil {
			err = b.complete(r)
		}
	} else {
		r, err = b.Replay(n)
	}
	if err != nil {
		b.world.Find("the log can be replayed", "record %d: %v", n, err)
		return
	}
	b.truth = r
	b.states[n] = append(b.states[n], state{r.Digest(), r.Hash().Tip(), slices.Clone(r.Params())})
	b.tips[n] = append(b.tips[n], r.Hash().Tip())
}

// Replay returns the state after record n of the log.
func (b *Book) Replay(n uint64) (*replica.Replica, error) {
	counts := make([]bool, n+1)
	for i := n; i > 0; {
		counts[i] = true
		if e := b.chain[i-1]; e.record.Kind == wire.KindRollback {
			i = e.record.To
		} else {
			i--
		}
	}
	r := replica.New(replica.Config{Run: scenario.RunName})
	for i, e := range b.chain[:n] {
		next := r.Skip
		if counts[i+1] {
			next = r.Apply
		}
		if err := next(e.bytes); err != nil {
			return nil, err
		}
	}
	return r, b.complete(r)
}

// plan returns the plan under which record n+1 is made.
func (b *Book) plan() *plan.Plan {
	if b.truth == nil || b.truth.N() != uint64(len(b.chain)) {
		r, err := b.Replay(uint64(len(b.chain)))
		if err != nil {
			b.world.Find("the log can be replayed", "%v", err)
			return b.scenario.Plan
		}
		b.truth = r
	}
	return b.truth.Plan()
}

// round checks that a round's record is the mean of contributions that devices made, that each
// contribution reached the record's author, and that the record counts each contribution once.
// round returns these contributions.
func (b *Book) round(r *wire.Record) []answer {
	p := b.plan()
	b.needsValues(r, p)
	if p.Transport == plan.DenseVectors {
		b.quorum(r, p, r.Round.Contributors)
		b.mean(r, p)
		return nil
	}
	counted, on, err := b.answers(r, p)
	if err != nil {
		b.world.Find("no contribution is counted twice", "record %d: %v", r.N, err)
		return nil
	}
	if p.Async > 0 {
		on = len(counted)
	}
	b.quorum(r, p, uint32(on))
	b.once(r, counted)
	for _, a := range counted {
		switch made := b.made[a]; {
		case b.surveys[a]:
			b.world.Find("what is counted was sent",
				"record %d counts %s, which answered a survey", r.N, a.device)
		case made == nil:
			b.world.Find("what is counted was sent",
				"record %d counts %s, which did not contribute", r.N, a.device)
		case !made[r.Epoch]:
			b.world.Find("what is counted was sent",
				"record %d of epoch %d counts %s, whose contribution never reached its author",
				r.N, r.Epoch, a.device)
		}
	}
	return counted
}

// quorum checks that enough contributions closed a round.
func (b *Book) quorum(r *wire.Record, plan *plan.Plan, count uint32) {
	if count < plan.Quorum {
		b.world.Find("quorum", "record %d has %d contributors, the quorum is %d",
			r.N, count, plan.Quorum)
	}
}

// answers returns the contributions that a round counts. on is how many of these answer the round's
// own record.
func (b *Book) answers(r *wire.Record, p *plan.Plan) (counted []answer, on int, err error) {
	if p.Late > 0 {
		return b.withLate(r, p)
	}
	if p.Sharing == plan.GroupDirections {
		counted, err = b.grouped(r, p)
		return counted, int(r.Round.Contributors), err
	}
	devices, err := b.contributors(r, p)
	for _, d := range devices {
		counted = append(counted, b.answerTo(d, r.N))
	}
	return counted, int(r.Round.Contributors), err
}

// Lost records that the log now ends after record n, with the vectors that the log stored at that
// time. If the log lost a record of a change, the step size or P may differ after a record that
// looks the same to a device: an announcement in the answer to a join names no record that would
// reveal the difference.
func (b *Book) Lost(n uint64, vectors map[runlog.ObjectName][]byte) {
	b.vectors.there = vectors
	for _, e := range b.chain[n:] {
		b.lenient = b.lenient || e.record.Kind == wire.KindChange
	}
	b.gone = max(b.gone, uint64(len(b.chain)))
	b.losses.lose(b.chain[n:])
	b.chain, b.truth = b.chain[:n], nil
}

// Reread compares the records that a coordinator reads with the records that its log accepted. Any
// further records come from an append with an unknown outcome.
func (b *Book) Reread(records [][]byte, members, retired []string) {
	b.stillRetired(members, retired)
	for i, record := range records {
		switch {
		case i >= len(b.chain):
			b.world.Count("found in the log")
			b.Commit(record)
		case !bytes.Equal(record, b.chain[i].bytes):
			b.world.Find("what is committed survives", "record %d is another one", i+1)
		}
	}
	if len(records) < len(b.chain) {
		b.world.Find("what is committed survives", "%d records of %d", len(records), len(b.chain))
	}
	if len(members) < len(b.members) || !slices.Equal(members[:len(b.members)], b.members) {
		b.world.Find("what is committed survives", "the members are %q, they were %q", members, b.members)
	}
	b.members = slices.Clone(members)
}

// SetBack records that an older copy of the log, with n records, was put in its place. Then the
// coordinator's next epoch may have been used before.
func (b *Book) SetBack(n uint64) {
	b.Lost(n, b.vectors.there)
	b.Undecided()
	b.epoch, b.members = 0, nil
	clear(b.orders.retired)
}

// Had reports whether any version of the log made this state after record n.
func (b *Book) Had(n uint64, digest [32]byte) bool {
	return slices.ContainsFunc(b.states[n], func(s state) bool { return s.digest == digest })
}

// Holds checks that a replica's state is a state of some version of the log.
func (b *Book) Holds(name string, n uint64, digest [32]byte) {
	if n > 0 && !b.Had(n, digest) {
		b.world.Find("replicas hold the log's states", "%s: after record %d its digest is %x",
			name, n, digest[:8])
	}
}

// Models checks that parameters belong to a state that some version of the log had.
func (b *Book) Models(name string, n uint64, params []float32) {
	if n == 0 || slices.ContainsFunc(b.states[n],
		func(s state) bool { return slices.Equal(s.params, params) }) {
		return
	}
	b.world.Find("replicas hold the log's states",
		"%s: after record %d its parameters are %v", name, n, params)
}

// Best checks the record with the best model, which a coordinator shows at the end; nil: there is
// none.
func (b *Book) Best(best *report.Best) {
	if best == nil {
		return
	}
	b.world.Count("a best model")
	n := b.Last()
	for n > best.N {
		if r := &b.chain[n-1].record; r.Kind == wire.KindRollback {
			n = r.To
		} else {
			n--
		}
	}
	if n != best.N || n == 0 {
		b.world.Find("the best model is one of the run", "it is after record %d, which a rollback undid",
			best.N)
	}
	if p := b.plan(); best.Metric != p.Best {
		b.world.Find("the best model is one of the run", "it is that of %s, the plan says %q",
			best.Metric, p.Best)
	}
}

// Ended reports whether the log's last record ends the run.
func (b *Book) Ended() bool {
	return len(b.chain) > 0 && b.chain[len(b.chain)-1].record.Kind == wire.KindEnd
}

// Last returns the number of the log's last record.
func (b *Book) Last() uint64 { return uint64(len(b.chain)) }

// Rounds returns how many rounds the log's state has.
func (b *Book) Rounds() uint64 {
	if len(b.chain) == 0 || b.plan() == nil {
		return 0
	}
	return b.truth.Rounds()
}

// End returns why the run ended. The run must have ended.
func (b *Book) End() wire.EndReason { return b.chain[len(b.chain)-1].record.End.Reason }

// Admit records that these are the members of the log, in the order of their slots.
func (b *Book) Admit(members []string) { b.members = slices.Clone(members) }

// Join records that the log has more members.
func (b *Book) Join(ids []string) { b.members = append(b.members, ids...) }

// Forget forgets a device's last reply, because the device may not have stored the reply.
func (b *Book) Forget(device string) {
	delete(b.standing, device)
	delete(b.masks.unmasked, device)
}
