package engine

import (
	"cmp"
	"fmt"
	"io"

	"github.com/zofl/zofl/coordinator/internal/aggregate"
	"github.com/zofl/zofl/coordinator/internal/cohort"
	"github.com/zofl/zofl/coordinator/internal/digests"
	"github.com/zofl/zofl/coordinator/internal/late"
	"github.com/zofl/zofl/coordinator/internal/logindex"
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/internal/quorum"
	"github.com/zofl/zofl/coordinator/internal/uploads"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// An Input is something that happened outside the core.
type Input struct {
	Kind  InputKind
	ID    string // the device, from the subject; InRetire, InRetired; InPause: who asks
	Frame []byte // of these, and of InConflict; the core keeps no reference
	Token string // InUpload, InJoin, InStep: where the device waits for the answer
	N     uint64 // InAppended, InAppendFailed, InConflict: the record; InPause: after which round
	Count int    // InStored, InStoreFailed: members
	Err   error  // InAppendFailed, InStoreFailed, InRetired, InDecided
	Text  string // InPause, InEnd: why

	Handover []byte // InConflict: what was stored with the record

	Values map[string]float64 // InReport

	Record *wire.Record // InRequest: its kind and body
}

// An InputKind says what happened.
type InputKind uint8

const (
	InTick InputKind = iota // time has passed
	InReply
	InUpload
	InJoin
	InAppended
	InAppendFailed // nobody knows whether it is stored
	InConflict     // another record is stored: frame
	InStored       // the log has stored the next members
	InStoreFailed
	InRetire  // an operator retires a member
	InRetired // the log has stored that, or could not
	InPause
	InResume
	InEnd
	InRequest // an operator requests a record
	InDeposed // another coordinator may lead
	InStop    // Run stops: emit what is unreported
	InStep    // a device's part of a step of secure aggregation
	InDecided // the log has stored decisions, or could not
	InReport  // the coordinator's program reports values
)

// An Output is something that the coordinator must do. The coordinator performs outputs in order.
// The outcomes of OutAppend and OutMember are inputs.
type Output struct {
	Kind  OutputKind
	N     uint64        // OutAppend, OutKeep
	Frame []byte        // OutAnnounce, OutAppend, OutRespond, OutHandOver: never changed later
	Token string        // OutRespond
	ID    string        // OutMember, OutRetire
	Event *report.Event // OutEvent
	Err   error         // OutFail

	Object *runlog.Object      // OutAppend: to be stored before the record
	Names  []runlog.ObjectName // OutKeep

	Decisions *runlog.Decisions // OutDecide
}

// An OutputKind says what the coordinator must do.
type OutputKind uint8

const (
	OutAnnounce OutputKind = iota // publish to every shard
	OutAppend                     // append record n to the log
	OutMember                     // add a member to the log
	OutRetire                     // retire a member in the log
	OutKeep                       // delete the vectors of records 1..n except names
	OutRespond                    // answer a join or a piece of a vector
	OutEvent                      // report an event to the recorder
	OutFail                       // end Run with an error
	OutDecide                     // store decisions in the log
	OutHandOver                   // hand over the frame with the record of the next output, OutAppend
)

// A phase says how far the core is with the next record.
type phase uint8

const (
	idle       phase = iota // not begun
	collecting              // a round, which collects replies
	appending               // its bytes were handed to the log
	failed                  // nobody knows whether the log has its bytes
)

// A Core is a coordinator without goroutine, clock or I/O. Only one goroutine at a time may call
// it. A Core's only randomness is the noise of a plan with dp_by=coordinator, from Config.Random.
//
// Invariants:
//  1. The position is the log's position. The position moves only on InAppended and InConflict,
//     past the record that the log has stored.
//  2. No announcement has a record that is not in the log.
//  3. In phases appending and failed, next has record N+1.
//  4. The chain has each member's contribution to record N+1 at most once.
//  5. A deposed core emits only the output that says so.
type Core struct {
	runlog.Position
	logindex.Archive
	now    uint64 // milliseconds
	life   life
	halt   halt
	claims claims

	transport transport // what a contribution is
	policy    policy.Set
	cohort    cohort.Cohort   // whom to ask, and whom to wait for
	round     round           // the next record, while it collects
	chain     aggregate.Chain // what the record makes of contributions
	next      proposal        // the next record, on its way to the log
	queue     queue           // what is to be recorded as soon as possible

	late       late.Work
	vectors    *vectors // nil: contributions are no vectors
	evaluation evaluations
	bests      bests
	requests   requests
	votes      votes
	watch      watch
	followers  []policy.Follower // of the log, those that the plan asks for

	announcer announcer
	counters  report.Counters
	out       []Output
}

// A life holds the state of a coordinator's life: its epoch, whether it started, whether it is
// deposed.
type life struct {
	epoch     uint64
	restarted bool // the log had records when it began
	started   bool
	deposed   bool
	policies  func(at *runlog.Position) policy.Set
}

// A Config holds what a core needs in addition to its log.
type Config struct {
	Plan         *plan.Plan // nil is the log's
	Epoch        uint64
	Witnesses    []string
	BeginAnew    bool
	AcceptLoss   uint64
	UploadMemory int // 0 is [uploads.Memory]

	// Policies returns the policies that a log's plan uses. The policies see the plan's changes
	// through the position.
	Policies func(at *runlog.Position) policy.Set

	// Handover returns what was handed over with the log's last record, see [runlog.HandoverOf].
	Handover func() ([]byte, error)

	// Records calls each with every record of the log up to last.
	Records func(last uint64, each func(record []byte)) error

	// Random is the source of the noise of a plan with dp_by=coordinator.
	Random io.Reader
}

// New returns a core that continues a log, or begins a log with cfg.Plan.
func New(cfg Config, h *History) (*Core, error) {
	c := &Core{
		Position: h.Position,
		Archive:  h.Archive,
		life:     life{epoch: cfg.Epoch},
		halt:     halt{Decisions: h.Decided},
		votes:    votes{Votes: digests.Votes{Witnesses: cfg.Witnesses}},
		claims:   claims{anew: cfg.BeginAnew, loss: cfg.AcceptLoss, began: h.Position.N},
	}
	if c.life.epoch <= c.LastEpoch {
		return nil, fmt.Errorf("log: epoch %d: %w: record %d is of epoch %d", c.life.epoch,
			runlog.ErrCorrupt, c.N, c.LastEpoch)
	}
	switch {
	case c.N == 0 && cfg.Plan == nil:
		return nil, fmt.Errorf("the log is empty: %w: give Config.Plan", runlog.ErrConfig)
	case c.N == 0:
		c.Plan = *cfg.Plan
	default:
		c.life.restarted = true
		if err := c.checkPlan(cfg.Plan); err != nil {
			return nil, err
		}
	}
	if valid.Plan(&c.Plan) != nil {
		return nil, plancheck.Validate(&c.Plan) // which says why, and what to do
	}
	if h.Base != nil {
		c.votes.begin(h.Base, c.N)
	}
	c.life.policies = cfg.Policies
	c.transport, c.policy = transportOf(&c.Plan), cfg.Policies(&c.Position)
	parts := c.policy.Stages
	parts.Random, parts.Root, parts.Suspected = cfg.Random, c.isRoot, c.suspected
	parts.First = func() []byte { return c.First }
	parts.Records = func(each func(record []byte)) error { return cfg.Records(c.N, each) }
	c.chain = aggregate.New(&c.Plan, parts)
	if c.Plan.Transport == plan.DenseVectors {
		memory := cmp.Or(cfg.UploadMemory, uploads.Memory)
		c.vectors = &vectors{uploads.New(memory), true}
	}
	c.announcer.compact = compact.For(&c.Plan)
	c.watch.Midway = c.Rounds > 0
	if err := c.chain.Recall(); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	if c.policy.Knows != nil {
		state, err := cfg.Handover()
		if err != nil {
			return nil, err
		}
		c.takeOver(state)
	}
	if err := c.meet(h); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	if c.policy.Steps != nil {
		if err := c.restoreAtStart(parts.Records); err != nil {
			return nil, fmt.Errorf("log: %w", err)
		}
	}
	c.catchUp()
	return c, nil
}

// meet makes the cohort from the members in the log.
func (c *Core) meet(h *History) (err error) {
	if c.Plan.Roster == plan.ListedRoster && (c.Rounds > 0 || c.Point.N > 0) &&
		len(h.Members) == 0 && h.Base == nil {
		return fmt.Errorf("roster: %w: it is empty, and the log has rounds", runlog.ErrCorrupt)
	}
	c.cohort, err = cohort.New(&c.Position, h.Members, h.Retired, &c.policy)
	return err
}

// checkPlan compares the configured plan with record 1.
func (c *Core) checkPlan(plan *plan.Plan) error {
	if plan == nil {
		return nil
	}
	r, err := wire.DecodeRecord(c.First)
	if err != nil {
		return fmt.Errorf("log: record 1: %w", err)
	}
	return runlog.SamePlan(r.Plan, plan)
}

// Start returns the first outputs. If the caller calls Run again, Start continues the timers and an
// interrupted append.
func (c *Core) Start(now uint64) []Output {
	c.begin(now)
	if !c.life.started {
		c.recall()
	}
	switch {
	case c.life.deposed:
		c.depose()
	case c.life.started && (c.phase() == appending || c.phase() == failed):
		c.handToLog()
	case c.life.started:
		c.tick()
	case c.N == 0:
		plan := c.Plan
		c.append(&wire.Record{Kind: wire.KindPlan, Plan: &plan}, report.Event{})
	default:
		c.committed()
	}
	c.life.started = true
	return c.out
}

// Step handles one input. now never decreases. The outputs are valid until the next call of Step.
func (c *Core) Step(now uint64, in Input) []Output {
	c.begin(now)
	if c.life.deposed {
		return c.out
	}
	switch in.Kind {
	case InReply:
		c.reply(in.ID, in.Frame)
	case InUpload:
		c.upload(in)
	case InJoin:
		c.join(in)
	case InStep:
		c.maskedStep(in)
	case InAppended:
		c.appended(in.N)
	case InAppendFailed:
		c.appendFailed(in.N, in.Err)
	case InConflict:
		c.conflict(in)
	case InStored:
		c.membersStored(in.Count, nil)
	case InStoreFailed:
		c.membersStored(in.Count, in.Err)
	case InRetire:
		c.retire(in.ID)
	case InRetired:
		c.memberRetired(in.ID, in.Err)
	case InPause:
		c.pauseBy(in)
	case InDecided:
		c.decisionsStored(in.Err)
	case InResume:
		c.resume()
	case InEnd:
		c.end(wire.End{Reason: wire.EndRequested, Text: in.Text})
	case InRequest:
		c.request(in.Record)
	case InDeposed:
		c.depose()
	case InStop:
		c.evaluation.report()
	case InReport:
		c.emitEvent(report.Event{Kind: report.Reported, Values: in.Values})
	}
	c.tick()
	return c.out
}

func (c *Core) begin(now uint64) {
	c.now = max(c.now, now)
	clear(c.out)
	c.out = c.out[:0]
}

// tick does what is due at the present time.
func (c *Core) tick() {
	switch {
	case c.life.deposed:
		return
	case c.phase() == collecting && c.quorum().Next() == quorum.Commit:
		c.commitRound()
	case c.phase() == collecting && c.now >= c.due():
		c.closeOrReopen()
	case c.phase() == failed && c.now >= c.next.retryAt:
		c.handToLog() // announced with its outcome
		return
	}
	if c.announcer.on && c.now >= c.announcer.at {
		c.announce()
	}
}

// Wake returns when tick next has something to do.
func (c *Core) Wake() (at uint64, ok bool) {
	at, ok = c.announcer.at, c.announcer.on
	switch {
	case c.life.deposed:
		return 0, false
	case c.phase() == collecting && c.due() < forever && (!ok || c.due() < at):
		return c.due(), true
	case c.phase() == failed && (!ok || c.next.retryAt < at):
		return c.next.retryAt, true
	}
	return at, ok
}

func (c *Core) emit(o Output) { c.out = append(c.out, o) }

func (c *Core) emitEvent(e report.Event) {
	e.N, e.Round = c.N, c.Rounds
	c.emit(Output{Kind: OutEvent, Event: &e})
}
