package coordinator

import (
	"context"
	"fmt"

	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/internal/serve"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/plancheck"
)

// An input is something that happened to a coordinator.
type input struct {
	kind  inputKind
	id    string // inReply, inUpload, inJoin: of the device, as its subject has it
	frame []byte // inReply, inUpload, inJoin, inConflict: kept by nobody
	token string // inUpload, inJoin: where the device waits for the answer
	n     uint64 // inAppended, inAppendFailed, inConflict: the record
	count int    // inStored, inStoreFailed: members
	err   error  // inAppendFailed, inStoreFailed
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
	inAppendFailed // it may be stored, or not
	inConflict     // another one is stored: frame
	inStored       // the log has the next members
	inStoreFailed
	inPause
	inResume
	inEnd
	inRequest // an operator wants a record
	inDeposed // another coordinator may lead
	inStop    // the coordinator stops: report what is unreported
)

// An output is something that the core wants done. Outputs are done in order;
// what outAppend and outMember came to is an input.
type output struct {
	kind  outputKind
	n     uint64 // outAppend, outKeep
	frame []byte // outAnnounce, outAppend, outRespond: not changed later
	token string // outRespond
	id    string // outMember
	event *Event // outEvent
	err   error  // outFail

	object *runlog.Object      // outAppend: what to store before
	names  []runlog.ObjectName // outKeep
}

type outputKind uint8

const (
	outAnnounce outputKind = iota // publish to every shard
	outAppend                     // append record n to the log
	outMember                     // add a member to the log
	outKeep                       // delete the vectors of records up to n but these
	outRespond                    // answer a join or a piece of a vector
	outEvent                      // tell the recorder
	outFail                       // end Run with an error
)

// phase is where the next record is.
type phase uint8

const (
	idle       phase = iota // it was not begun
	collecting              // it is a round that collects replies
	appending               // its bytes were handed to the log
	failed                  // it is unknown whether the log has its bytes
)

// A core is a coordinator without goroutine, clock or input and output.
//
// Invariants:
//  1. The position is that of the log: it moves only on inAppended and
//     inConflict, by what is stored.
//  2. No announcement has a record that is not in the log.
//  3. In phases appending and failed, pending holds the bytes of record n+1,
//     and no other bytes are handed out for it before it is known what the log
//     holds there.
//  4. Each member's contribution to record n+1 is in sum at most once.
//  5. In phase failed trouble says why; only appending ends it.
//  6. Once deposed, it puts out nothing but that.
//  7. object is what pending names a vector by, nil if it names none.
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
	ending     *wire.End // the run is to end as soon as it can
	pending    []byte
	object     *runlog.Object
	closed     Event          // what to tell once pending is stored
	queued     []*wire.Record // what operators asked for
	fromQueue  bool           // pending is the first of queued

	roster  roster
	yield   gather.Yield
	answers gather.Answers
	late    gather.Answers // of the round before, for the yield of an open roster
	uploads gather.Uploads
	unkept  bool // a vector was stored, and those that are too old are there

	round      round
	aggregator gather.Aggregator    // of the open round
	sum        gather.Tally         // of no scalars where all are kept
	held       gather.Contributions // where there is more to do than to add
	controls   gather.Controls      // control variates
	values     []float32            // of the reply at hand
	control    []float32            // its control variate
	loss       mathx.ExactSum       // of the same weights as sum
	losses     []float32            // what it is the sum of
	watch      gather.LossWatch
	lastLoss   float32

	evaluation evaluation
	evaluated  Evaluation
	witnesses  []string
	digests    []*digests
	reference  wire.Reference // the newest; N is 0 before the first
	refersTo   uint64         // last record whose first announcement brings it

	announceAt uint64 // when announcing
	announced  uint64 // record of the last announcement
	announcing bool

	counters Counters
	out      []output
}

// newCore returns a core that continues a log, or begins one with plan. A nil
// plan is the log's.
func newCore(ctx context.Context, plan *wire.Plan, log runlog.Log, epoch uint64) (*core, error) {
	c := &core{maxMembers: wire.MaxMembers, uploads: gather.NewUploads(gather.UploadMemory)}
	var err error
	if c.Position, err = runlog.Replay(ctx, log, log.Last(), c.remember); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	if c.epoch = epoch; epoch <= c.LastEpoch {
		return nil, fmt.Errorf("log: epoch %d: %w: record %d is of epoch %d", epoch, runlog.ErrCorrupt, c.N, c.LastEpoch)
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
	listed := c.Plan.Roster == wire.Dense
	if listed && (c.Rounds > 0 || c.Point.N > 0) && len(ids) == 0 {
		return nil, fmt.Errorf("log: roster: %w: it is empty, and the log has rounds", runlog.ErrCorrupt)
	}
	if c.roster, err = newRoster(!listed, ids); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	c.answers, c.late = gather.NewAnswers(listed), gather.NewAnswers(listed)
	c.answers.Grow(len(ids))
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

// start returns the first outputs. When Run was called again, timers go on, and
// so does an append that was interrupted.
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
		c.append(&wire.Record{Kind: wire.KindPlan, Plan: &plan}, Event{})
	default:
		c.committed()
	}
	c.started = true
	return c.out
}

// step handles one input at a time that never decreases, and returns what is
// to be done; the result is valid until the next step.
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
	case inPause:
		c.pause(in.text)
	case inResume:
		c.Resume()
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
	case c.phase == collecting && !c.paused && c.now >= c.round.deadline:
		c.closeAttempt()
	case c.phase == failed && c.now >= c.retryAt:
		c.handToLog() // what it comes to is announced
		return
	}
	if c.announcing && c.now >= c.announceAt {
		c.announce()
	}
}

// wake returns when tick has something to do next.
func (c *core) wake() (at uint64, ok bool) {
	at, ok = c.announceAt, c.announcing
	switch {
	case c.deposed:
		return 0, false
	case c.phase == collecting && !c.paused && (!ok || c.round.deadline < at):
		return c.round.deadline, true
	case c.phase == failed && (!ok || c.retryAt < at):
		return c.retryAt, true
	}
	return at, ok
}

func (c *core) emit(o output) { c.out = append(c.out, o) }

func (c *core) emitEvent(e Event) {
	e.N, e.Round = c.N, c.Rounds
	c.emit(output{kind: outEvent, event: &e})
}
