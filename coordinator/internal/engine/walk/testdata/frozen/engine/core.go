package engine

import (
	"cmp"
	"fmt"
	"io"

	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/archive"
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/ballot"
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/classes"
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/crowd"
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/gather"
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/grouping"
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/guard"
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/steer"
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/vault"
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/veil"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// An Input is something that happened.
type Input struct {
	Kind  InputKind
	ID    string // the device, from the subject; InRetire, InRetired
	Frame []byte // of these, and of InConflict; the core keeps no reference
	Token string // InUpload, InJoin, InStep: where the device waits for the answer
	N     uint64 // InAppended, InAppendFailed, InConflict: the record
	Count int    // InStored, InStoreFailed: members
	Err   error  // InAppendFailed, InStoreFailed, InRetired
	Text  string // InPause, InEnd: why

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
)

// An Output is something to be done. Outputs are done in order. The outcomes of OutAppend and
// OutMember are inputs.
type Output struct {
	Kind  OutputKind
	N     uint64        // OutAppend, OutKeep
	Frame []byte        // OutAnnounce, OutAppend, OutRespond: never changed later
	Token string        // OutRespond
	ID    string        // OutMember, OutRetire
	Event *report.Event // OutEvent
	Err   error         // OutFail

	Object *runlog.Object      // OutAppend: to be stored before the record
	Names  []runlog.ObjectName // OutKeep
}

// An OutputKind says what to do.
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
)

// A phase is how far the next record is.
type phase uint8

const (
	idle       phase = iota // not begun
	collecting              // a round, which collects replies
	appending               // its bytes were handed to the log
	failed                  // nobody knows whether the log has its bytes
)

// A Core is a coordinator without goroutine, clock or I/O. One goroutine at a time may call it. Its
// only randomness is the noise that a plan asks it for, from Config.Random.
//
// Invariants:
//  1. The position is the log's. It moves only on InAppended and InConflict, by what is stored.
//  2. No announcement has a record that is not in the log.
//  3. In phases appending and failed, pending has the bytes of record N+1. No other bytes are
//     handed out for that record before it is known what the log holds there.
//  4. Each member's contribution to record N+1 is in sum at most once.
//  5. In phase failed, trouble says why. Only appending the record ends that phase.
//  6. A deposed core emits nothing but that it is deposed.
//  7. object is the vector that pending names, nil if it names none.
type Core struct {
	runlog.Position
	epoch     uint64 // of this coordinator
	transport transport
	groups    *grouping.Chooser // nil: devices share no directions by groups
	archive.Archive
	prev wire.Tip // of record n-1
	lean bool     // announcements have the lean form where there is one

	now        uint64 // milliseconds
	maxMembers int    // of a listed roster
	restarted  bool   // the log had records when this coordinator began
	started    bool
	deposed    bool
	phase      phase
	paused     bool
	reason     string    // why it is paused
	trouble    string    // why the log does not take pending; "" if it does
	retryAt    uint64    // failed: when pending is handed out again
	ending     *wire.End // to be appended as soon as possible
	pending    []byte
	object     *runlog.Object
	closed     report.Event   // to emit once pending is stored
	queued     []*wire.Record // what operators asked for
	fromQueue  bool           // pending is the first of queued

	roster   crowd.Roster
	crowd    crowd.Crowd
	shortage crowd.Shortage
	claims   claims
	yield    gather.Yield
	answers  gather.Answers
	late     gather.Answers // of the round before, for the yield of an open roster
	lateWork gather.LateWork
	uploads  gather.Uploads
	unkept   bool // a vector was stored, and those too old are not yet deleted

	round      round
	aggregator gather.Aggregator    // the open round's
	sum        gather.Tally         // without scalars if all contributions are held
	held       gather.Contributions // for medians
	classed    classes.Held         // in place of held, where a plan has classes
	relayed    gather.Relayed       // for relay
	controls   gather.Controls      // sums of control variates
	guard      guard.Guard
	trusted    bool
	veil       veil.Veil
	vault      *vault.Vault    // nil unless the plan has secure aggregation
	skips      uint32          // records in a row that could not be made
	values     []float32       // of the current reply
	control    []float32       // its control variate
	clipped    wire.Scalars    // its values, shortened, as they are relayed
	loss       gather.MeanLoss // with the weights of sum
	losses     []float32       // that loss is the sum of
	slopes     []float64       // of a plan with step_auto: one for each contribution
	law        steer.Law
	watch      gather.LossWatch
	divergence string // why the run pauses, or has paused, because it diverged; "": it has not
	lastLoss   float32

	evaluation gather.Evaluation
	evaluated  report.Evaluation
	booth      ballot.Booth
	reference  wire.Reference // the newest; N is 0 before the first
	refersTo   uint64         // the last record whose first announcement brings it

	announceAt uint64 // when announcing
	announced  uint64 // record of the last announcement
	announcing bool

	counters report.Counters
	out      []Output
}

// A Config is what a core needs to know besides its log.
type Config struct {
	Plan         *plan.Plan // nil is the log's
	Epoch        uint64
	Witnesses    []string
	BeginAnew    bool
	AcceptLoss   uint64
	UploadMemory int // 0 is [gather.UploadMemory]

	// Random is where the noise of a plan with dp_by=coordinator comes from.
	Random io.Reader
}

// New returns a core that continues a log, or begins one with cfg.Plan.
func New(cfg Config, h *History) (*Core, error) {
	c := &Core{
		Position:   h.Position,
		Archive:    h.Archive,
		epoch:      cfg.Epoch,
		maxMembers: plan.MaxMembers,
		uploads:    gather.NewUploads(cmp.Or(cfg.UploadMemory, gather.UploadMemory)),
		booth:      ballot.Booth{Witnesses: cfg.Witnesses},
		claims:     claims{anew: cfg.BeginAnew, loss: cfg.AcceptLoss, began: h.Position.N},
	}
	if c.epoch <= c.LastEpoch {
		return nil, fmt.Errorf("log: epoch %d: %w: record %d is of epoch %d", c.epoch,
			runlog.ErrCorrupt, c.N, c.LastEpoch)
	}
	switch {
	case c.N == 0 && cfg.Plan == nil:
		return nil, fmt.Errorf("the log is empty: %w: give Config.Plan", runlog.ErrConfig)
	case c.N == 0:
		c.Plan = *cfg.Plan
	default:
		c.restarted = true
		if err := c.checkPlan(cfg.Plan); err != nil {
			return nil, err
		}
	}
	if err := plancheck.Validate(&c.Plan); err != nil {
		return nil, err
	}
	if h.Base != nil {
		c.reference = wire.Reference{N: h.Base.N, Tip: h.Base.Hash.Tip(), Digest: h.Base.Digest}
		c.refersTo = c.N + referRecords
	}
	c.veil, c.vault = veil.Of(&c.Plan, cfg.Random), vault.For(&c.Plan)
	c.guard.Root = c.isRoot
	c.transport, c.groups = transportOf(&c.Plan), grouping.For(&c.Plan, c.epoch)
	c.unkept, c.lean = c.transport.vectors(), compact.For(&c.Plan)
	listed := c.Plan.Roster == plan.ListedRoster
	if listed && (c.Rounds > 0 || c.Point.N > 0) && len(h.Members) == 0 && h.Base == nil {
		return nil, fmt.Errorf("log: roster: %w: it is empty, and the log has rounds",
			runlog.ErrCorrupt)
	}
	var err error
	if c.roster, err = crowd.NewRoster(!listed, h.Members); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	c.answers, c.late = gather.NewAnswers(listed), gather.NewAnswers(listed)
	c.answers.Grow(len(h.Members))
	c.lateWork.Past = gather.NewPast(listed)
	c.crowd.Grow(len(c.roster.IDs), false)
	c.loadRetired(h.Retired)
	c.yield.Population = uint64(c.Plan.Members)
	c.watch.Midway = c.Rounds > 0
	return c, nil
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

// Start returns the first outputs. When Run is called again, timers go on, and so does an
// interrupted append.
func (c *Core) Start(now uint64) []Output {
	c.begin(now)
	switch {
	case c.deposed:
		c.depose()
	case c.started && (c.phase == appending || c.phase == failed):
		c.handToLog()
	case c.started:
		c.tick()
	case c.N == 0:
		plan := c.Plan
		c.append(&wire.Record{Kind: wire.KindPlan, Plan: &plan}, report.Event{})
	default:
		c.committed()
	}
	c.started = true
	return c.out
}

// Step handles one input. now never decreases. The outputs are valid until the next Step.
func (c *Core) Step(now uint64, in Input) []Output {
	c.begin(now)
	if c.deposed {
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
		c.conflict(in.N, in.Frame)
	case InStored:
		c.membersStored(in.Count, nil)
	case InStoreFailed:
		c.membersStored(in.Count, in.Err)
	case InRetire:
		c.retire(in.ID)
	case InRetired:
		c.memberRetired(in.ID, in.Err)
	case InPause:
		c.pause(in.Text)
	case InResume:
		c.resume()
	case InEnd:
		c.end(wire.End{Reason: wire.EndRequested, Text: in.Text})
	case InRequest:
		c.request(in.Record)
	case InDeposed:
		c.depose()
	case InStop:
		c.reportEvaluation()
	}
	c.tick()
	return c.out
}

func (c *Core) begin(now uint64) {
	c.now = max(c.now, now)
	clear(c.out)
	c.out = c.out[:0]
}

// tick does what is due.
func (c *Core) tick() {
	switch {
	case c.deposed:
		return
	case c.phase == collecting && !c.paused && c.full():
		c.commitRound()
	case c.phase == collecting && c.now >= c.due():
		c.closeOrReopen()
	case c.phase == failed && c.now >= c.retryAt:
		c.handToLog() // announced with its outcome
		return
	}
	if c.announcing && c.now >= c.announceAt {
		c.announce()
	}
}

// Wake returns when tick next has something to do.
func (c *Core) Wake() (at uint64, ok bool) {
	at, ok = c.announceAt, c.announcing
	switch {
	case c.deposed:
		return 0, false
	case c.phase == collecting && c.due() < forever && (!ok || c.due() < at):
		return c.due(), true
	case c.phase == failed && (!ok || c.retryAt < at):
		return c.retryAt, true
	}
	return at, ok
}

func (c *Core) emit(o Output) { c.out = append(c.out, o) }

func (c *Core) emitEvent(e report.Event) {
	e.N, e.Round = c.N, c.Rounds
	c.emit(Output{Kind: OutEvent, Event: &e})
}
