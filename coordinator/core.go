package coordinator

import (
	"context"
	"fmt"

	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/internal/serve"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/plancheck"
)

// An input is something that happened.
type input struct {
	kind  inputKind
	id    string // inReply, inUpload, inJoin: the device, from the subject; inRetire, inRetired
	frame []byte // inReply, inUpload, inJoin, inConflict: the core keeps no reference
	token string // inUpload, inJoin: where the device waits for the answer
	n     uint64 // inAppended, inAppendFailed, inConflict: the record
	count int    // inStored, inStoreFailed: members
	err   error  // inAppendFailed, inStoreFailed, inRetired
	text  string // inPause, inEnd: why

	record *wire.Record // inRequest: its kind and body
}

type inputKind uint8

const (
	inTick inputKind = iota // time has passed
	inReply
	inUpload
	inJoin
	inAppended
	inAppendFailed // nobody knows whether it is stored
	inConflict     // another record is stored: frame
	inStored       // the log has stored the next members
	inStoreFailed
	inRetire  // an operator retires a member
	inRetired // the log has stored that, or could not
	inPause
	inResume
	inEnd
	inRequest // an operator requests a record
	inDeposed // another coordinator may lead
	inStop    // Run stops: emit what is unreported
)

// An output is something to be done. Outputs are done in order. The outcomes of outAppend and
// outMember are inputs.
type output struct {
	kind  outputKind
	n     uint64        // outAppend, outKeep
	frame []byte        // outAnnounce, outAppend, outRespond: never changed later
	token string        // outRespond
	id    string        // outMember, outRetire
	event *report.Event // outEvent
	err   error         // outFail

	object *runlog.Object      // outAppend: to be stored before the record
	names  []runlog.ObjectName // outKeep
}

type outputKind uint8

const (
	outAnnounce outputKind = iota // publish to every shard
	outAppend                     // append record n to the log
	outMember                     // add a member to the log
	outRetire                     // retire a member in the log
	outKeep                       // delete the vectors of records 1..n except names
	outRespond                    // answer a join or a piece of a vector
	outEvent                      // report an event to the recorder
	outFail                       // end Run with an error
)

// A phase is how far the next record is.
type phase uint8

const (
	idle       phase = iota // not begun
	collecting              // a round, which collects replies
	appending               // its bytes were handed to the log
	failed                  // nobody knows whether the log has its bytes
)

// A core is a coordinator without goroutine, clock, randomness or I/O. The goroutine of Run owns
// it, under Coordinator.mu.
//
// Invariants:
//  1. The position is the log's. It moves only on inAppended and inConflict, by what is stored.
//  2. No announcement has a record that is not in the log.
//  3. In phases appending and failed, pending has the bytes of record N+1. No other bytes are
//     handed out for that record before it is known what the log holds there.
//  4. Each member's contribution to record N+1 is in sum at most once.
//  5. In phase failed, trouble says why. Only appending the record ends that phase.
//  6. A deposed core emits nothing but that it is deposed.
//  7. object is the vector that pending names, nil if it names none.
type core struct {
	runlog.Position
	epoch     uint64 // of this coordinator
	transport transport
	first     []byte // record 1
	recent    serve.Recent
	segments  serve.Segments
	prev      wire.Tip // of record n-1

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

	roster  roster
	crowd   crowd
	starved starved
	claims  claims
	yield   gather.Yield
	answers gather.Answers
	late    gather.Answers // of the round before, for the yield of an open roster
	uploads gather.Uploads
	unkept  bool // a vector was stored, and those too old are not yet deleted

	round      round
	aggregator gather.Aggregator    // the open round's
	sum        gather.Tally         // without scalars if all contributions are held
	held       gather.Contributions // for medians and relay
	controls   gather.Controls      // sums of control variates
	values     []float32            // of the current reply
	control    []float32            // its control variate
	loss       mathx.ExactSum       // with the weights of sum
	losses     []float32            // that loss is the sum of
	watch      gather.LossWatch
	lastLoss   float32

	evaluation evaluation
	evaluated  report.Evaluation
	witnesses  []string
	digests    []*digests
	reference  wire.Reference // the newest; N is 0 before the first
	refersTo   uint64         // the last record whose first announcement brings it

	announceAt uint64 // when announcing
	announced  uint64 // record of the last announcement
	announcing bool

	counters report.Counters
	out      []output
}

// newCore returns a core that continues a log, or begins one with plan. If plan is nil, the log's
// is used.
func newCore(ctx context.Context, plan *wire.Plan, log runlog.Log, epoch uint64) (*core, error) {
	c := &core{maxMembers: wire.MaxMembers, uploads: gather.NewUploads(gather.UploadMemory)}
	var err error
	if c.Position, err = runlog.Replay(ctx, log, log.Last(), c.remember); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	if c.epoch = epoch; epoch <= c.LastEpoch {
		return nil, fmt.Errorf("log: epoch %d: %w: record %d is of epoch %d", epoch,
			runlog.ErrCorrupt, c.N, c.LastEpoch)
	}
	switch {
	case c.N == 0 && plan == nil:
		return nil, fmt.Errorf("the log is empty: %w: give Config.Plan", ErrConfig)
	case c.N == 0:
		c.Plan = *plan
	default:
		c.restarted = true
		if err := c.checkPlan(plan); err != nil {
			return nil, err
		}
	}
	if err := plancheck.Validate(&c.Plan); err != nil {
		return nil, err
	}
	c.transport = transportOf(&c.Plan)
	if c.unkept = c.transport.vectors(); c.unkept {
		if _, err := runlog.ObjectsOf(log); err != nil {
			return nil, err
		}
	}
	ids, err := log.Members()
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	listed := c.Plan.Roster == wire.ListedRoster
	if listed && (c.Rounds > 0 || c.Point.N > 0) && len(ids) == 0 {
		return nil, fmt.Errorf("log: roster: %w: it is empty, and the log has rounds",
			runlog.ErrCorrupt)
	}
	if c.roster, err = newRoster(!listed, ids); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	c.answers, c.late = gather.NewAnswers(listed), gather.NewAnswers(listed)
	c.answers.Grow(len(ids))
	c.crowd.grow(len(c.roster.ids), false)
	if err := c.loadRetired(log); err != nil {
		return nil, err
	}
	c.yield.Population = uint64(c.Plan.Members)
	return c, nil
}

// checkPlan compares the configured plan with record 1.
func (c *core) checkPlan(plan *wire.Plan) error {
	if plan == nil {
		return nil
	}
	r, err := wire.DecodeRecord(c.first)
	if err != nil {
		return fmt.Errorf("log: record 1: %w", err)
	}
	return runlog.SamePlan(r.Plan, plan)
}

// start returns the first outputs. When Run is called again, timers go on, and so does an
// interrupted append.
func (c *core) start(now uint64) []output {
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

// step handles one input. now never decreases. The outputs are valid until the next step.
func (c *core) step(now uint64, in input) []output {
	c.begin(now)
	if c.deposed {
		return c.out
	}
	switch in.kind {
	case inReply:
		c.reply(in.id, in.frame)
	case inUpload:
		c.upload(in)
	case inJoin:
		c.join(in)
	case inAppended:
		c.appended(in.n)
	case inAppendFailed:
		c.appendFailed(in.n, in.err)
	case inConflict:
		c.conflict(in.n, in.frame)
	case inStored:
		c.membersStored(in.count, nil)
	case inStoreFailed:
		c.membersStored(in.count, in.err)
	case inRetire:
		c.retire(in.id)
	case inRetired:
		c.memberRetired(in.id, in.err)
	case inPause:
		c.pause(in.text)
	case inResume:
		c.resume()
	case inEnd:
		c.end(wire.End{Reason: wire.EndRequested, Text: in.text})
	case inRequest:
		c.request(in.record)
	case inDeposed:
		c.depose()
	case inStop:
		c.reportEvaluation()
	}
	c.tick()
	return c.out
}

func (c *core) begin(now uint64) {
	c.now = max(c.now, now)
	clear(c.out)
	c.out = c.out[:0]
}

// tick does what is due.
func (c *core) tick() {
	switch {
	case c.deposed:
		return
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

// wake returns when tick next has something to do.
func (c *core) wake() (at uint64, ok bool) {
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

func (c *core) emit(o output) { c.out = append(c.out, o) }

func (c *core) emitEvent(e report.Event) {
	e.N, e.Round = c.N, c.Rounds
	c.emit(output{kind: outEvent, event: &e})
}
