package coordinator

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/engine"
	"github.com/zofl/zofl/coordinator/internal/ratelimit"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

const (
	// flowBytes bounds the waiting bytes of one sender. A device sends a few frames a round.
	flowBytes = 1 << 20
	// strangerBytes bounds the waiting bytes of all ids without a slot, where members are listed.
	strangerBytes = 32 << 20
	// joinBurst is how many ids may join at once, in addition to two for each of the plan's Members:
	// more than the largest fleets that were measured.
	joinBurst = 8192
	// worst is how many offenders a status names.
	worst = 8
)

// rejoinLimit bounds the joins of one member, because the coordinator answers each join with the
// plan. A device joins when it starts, and when it has received no message for long.
var rejoinLimit = ratelimit.Limit{Rate: 8, Burst: 32}

// An arrival is a message that waits for the core.
type arrival struct {
	kind   engine.InputKind
	msg    bus.Message
	sender ratelimit.Sender
	denied bool // a join of an id that Config.Allow does not let in
}

// A tally counts the messages that the coordinator dropped unread.
type tally struct {
	replies, joins, pieces atomic.Uint64
	stale, notAllowed      atomic.Uint64
}

// share makes the queue of arrivals.
func (c *Coordinator) share() {
	p := &c.core.Plan
	c.register.Open = p.Roster == plan.OpenRoster
	c.register.Authenticated = c.cfg.Authenticated
	cfg := ratelimit.Config[arrival]{Most: c.cfg.Queue, FlowBytes: flowBytes,
		StrangerBytes: strangerBytes, Patience: c.cfg.CatchUpPatience,
		Metered: joinLimit(&c.cfg, p), Dropped: c.dropped}
	if c.register.Open {
		cfg.StrangerBytes = 0
	}
	c.arrivals = ratelimit.New(cfg)
	c.rejoins = ratelimit.NewBuckets(rejoinLimit, c.cfg.Queue)
	c.register.Add(c.cfg.Witnesses...)
	members, _ := c.core.Devices(0)
	for i := range members {
		c.register.Add(members[i].ID)
	}
}

// joinLimit bounds the ids that join a listed roster for the first time.
func joinLimit(cfg *Config, p *plan.Plan) ratelimit.Limit {
	if cfg.JoinRate < 0 {
		return ratelimit.Limit{}
	}
	return ratelimit.Limit{Rate: cfg.JoinRate, Burst: joinBurst + 2*float64(p.Members)}
}

// arrive queues a message for the core. arrive drops messages longer than a frame, to bound the
// queue's memory, and joins and steps that name no subject for the answer.
func (c *Coordinator) arrive(kind engine.InputKind, m bus.Message) (queued bool) {
	id := subjects.ID(m.Subject)
	a := arrival{kind: kind, msg: m, sender: c.register.Sender(id, m.Reply)}
	if len(m.Data) > wire.MaxFrame ||
		(kind == engine.InJoin || kind == engine.InStep) && token(m) == "" {
		c.garbled.Add(1)
		c.register.Offenders.Faulty(a.sender)
		return false
	}
	if kind == engine.InJoin && !a.sender.Member {
		a.sender.Metered = !c.register.Open
		a.denied = c.cfg.Allow != nil && !c.cfg.Allow(id)
	}
	if !c.arrivals.Push(a.sender, a, len(m.Data)) {
		c.refuse(&a, &c.overflow)
		return false
	}
	return true
}

// arriveUpload queues a piece of a vector, unless the queued pieces would then take more memory
// than Config.UploadMemory.
func (c *Coordinator) arriveUpload(m bus.Message) {
	size := int64(len(m.Data))
	if c.pieces.Add(size) > int64(max(c.cfg.UploadMemory, wire.MaxFrame)) {
		c.pieces.Add(-size)
		sender := c.register.Sender(subjects.ID(m.Subject), m.Reply)
		c.refuse(&arrival{kind: engine.InUpload, sender: sender}, &c.overflow)
		return
	}
	if !c.arrive(engine.InUpload, m) {
		c.pieces.Add(-size)
	}
}

// left notes that an arrival left the queue.
func (c *Coordinator) left(a *arrival) {
	if a.kind == engine.InUpload {
		c.pieces.Add(-int64(len(a.msg.Data)))
	}
}

// dropped counts an arrival that the queue dropped, because it was full or the arrival waited too
// long.
func (c *Coordinator) dropped(a arrival, _ string, late bool) {
	c.left(&a)
	if late {
		c.refuse(&a, &c.refused.stale)
	} else {
		c.refuse(&a, &c.overflow)
	}
}

// refuse counts an arrival that the coordinator drops unread.
func (c *Coordinator) refuse(a *arrival, cause *atomic.Uint64) {
	cause.Add(1)
	c.register.Offenders.Refused(a.sender)
	switch a.kind {
	case engine.InJoin:
		c.refused.joins.Add(1)
	case engine.InUpload:
		c.refused.pieces.Add(1)
	default:
		c.refused.replies.Add(1)
	}
}

// handle hands an arrival to the core, unless the coordinator must refuse the arrival. The caller
// holds mu.
func (c *Coordinator) handle(a *arrival) []engine.Output {
	c.left(a)
	switch {
	case a.denied:
		return c.deny(a)
	case a.kind == engine.InJoin && a.sender.Member:
		if _, ok := c.rejoins.Take(a.sender.Name, time.Now()); !ok {
			c.refuse(a, &c.overflow)
			return nil
		}
	}
	faults := c.core.Faulty()
	out := c.core.Step(c.now(), engine.Input{Kind: a.kind, ID: subjects.ID(a.msg.Subject),
		Frame: a.msg.Data, Token: c.token(&a.msg)})
	if c.core.Faulty() > faults {
		c.register.Offenders.Faulty(a.sender)
	}
	return out
}

// deny tells a device that it may not join.
func (c *Coordinator) deny(a *arrival) []engine.Output {
	c.refuse(a, &c.refused.notAllowed)
	to := c.token(&a.msg)
	if to == "" {
		return nil
	}
	reply := wire.JoinReply{Status: wire.JoinDenied, Last: c.core.N,
		Reason: "the coordinator's list of ids that may join does not have this one"}
	return []engine.Output{{Kind: engine.OutRespond, Token: to, Frame: reply.Append(nil)}}
}

// Offenders returns the senders that caused refused or faulty messages, at most 256, the busiest
// first. [report.Status] has the first 8.
func (c *Coordinator) Offenders() []report.Device { return c.register.Offenders.Worst(math.MaxInt) }

// addTurnedAway adds to a status which messages the coordinator dropped unread, and who sent them.
func (c *Coordinator) addTurnedAway(s *report.Status) {
	r := &c.refused
	s.Counters.Stale += r.stale.Load()
	s.Counters.NotAllowed = r.notAllowed.Load()
	s.TurnedAway = map[string]uint64{}
	for kind, count := range map[string]uint64{"replies": r.replies.Load(),
		"joins": r.joins.Load(), "pieces": r.pieces.Load(),
		"records": c.catchUps.Counts().Refused(), "vectors": c.objects.Refused(),
		"snapshots": c.snapshots.Refused()} {
		if count > 0 {
			s.TurnedAway[kind] = count
		}
	}
	s.Offenders = c.register.Offenders.Worst(worst)
}
