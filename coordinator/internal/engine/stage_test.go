package engine

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

// A stage is a core, a log and the commands of a transcript:
//
//	plan field=value ...   begins a run of the small plan with other fields
//	restart                another coordinator on the same log
//	hold | release         leaves appends and members to the next two | stores them
//	append ok|fail|lost    the outcome of the append; lost: it is stored, and fails
//	foreign kind [epoch=]  another coordinator stores the next record: round,
//	                       end, rollback, change, plan, same, fork or garbage
//	store ok|fail          the outcome for the new members
//	join id ...            requests to join
//	reply id ... g=... [w=1] [loss=1] [n=] [tip=] [c=... cn=record] [slope=]
//	survey id ... kind=mu g=... [loss=1] [n=] [tip=]: answers to a survey
//	decline id ... [reason=1] [n=] [tip=]
//	eval id ... m=... [w=1] [n=] [tip=]
//	digest id ... d=hex [n=] [tip=]
//	raw id hex             any frame, as a reply
//	tick ms                time passes
//	pause text | resume | end text | stop | depose
//	pauseafter n text      an operator plans a pause after round n
//	decide ok|fail         what the log makes of decisions from now on
//	rollback n | change field=value ...
//	witnesses id ...       of this coordinator and those after a restart
//	asked id ...           who of them the present attempt asks
//	counters | status
//
// Where a reply takes ids, @asked, @unasked and @0 stand for members; some=2
// takes the first two.
type stage struct {
	t         *testing.T
	core      *Core
	plan      *plan.Plan
	log       *runlog.Memory
	now       uint64
	hold      bool
	held      []Output          // appends and members that wait
	gave      map[uint64][]byte // appends of this core, by record
	witnesses []string
	decides   error // of the log, for decisions

	crashes    crashes
	recovering bool
	restarts   int
	sent       []Input // replies
	last       Input
	out        strings.Builder
	wire       bytes.Buffer
}

func (s *stage) command(args []string) {
	name, args := args[0], args[1:]
	text := strings.Join(args, " ")
	switch name {
	case "plan":
		s.begin(args)
	case "restart":
		s.restart()
	case "hold", "release":
		s.hold = name == "hold"
	case "append", "store":
		s.settle(name, text)
	case "foreign":
		s.storeForeign(args)
	case "rollback", "change":
		s.request(name, args)
	case "witnesses":
		s.witnesses, s.core.votes.Witnesses = args, args
	case "join":
		for _, id := range args {
			s.step(Input{Kind: InJoin, ID: id, Token: "to." + id,
				Frame: (&wire.JoinRequest{}).Append(nil)})
		}
	case "knows":
		s.knows(args)
	case "retire":
		s.step(Input{Kind: InRetire, ID: text})
	case "devices":
		s.printDevices()
	case "reply", "survey", "decline", "goodbye", "eval", "digest":
		s.send(name, args)
	case "raw":
		frame, err := hex.DecodeString(args[1])
		s.check(err)
		s.step(Input{Kind: InReply, ID: args[0], Frame: frame})
	case "tick":
		s.tick(s.number(args[0]))
	case "pause":
		s.step(Input{Kind: InPause, Text: text})
	case "pauseafter":
		s.step(Input{Kind: InPause, N: s.number(args[0]), Text: strings.Join(args[1:], " ")})
	case "decide":
		if s.decides = nil; text == "fail" {
			s.decides = errDisk
		}
	case "resume":
		s.step(Input{Kind: InResume})
	case "end":
		s.step(Input{Kind: InEnd, Text: text})
	case "stop":
		s.step(Input{Kind: InStop})
	case "depose":
		s.step(Input{Kind: InDeposed})
	case "asked":
		s.printAsked(args)
	case "counters":
		s.printCounters()
	case "status":
		s.printStatus()
	default:
		s.t.Fatalf("no command %q", name)
	}
}

func (s *stage) begin(fields []string) {
	s.plan, s.log, s.witnesses, s.sent = chaintest.Plan(s.t), &runlog.Memory{}, nil, nil
	s.last = Input{Kind: InTick} // requests of another run are not repeated
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		s.check(planfile.Set(s.plan, name, value))
	}
	s.restart()
}

func (s *stage) restart() {
	s.restarts++
	s.held, s.gave = nil, map[uint64][]byte{}
	epoch, err := s.log.Begin(s.t.Context())
	s.check(err)
	if s.core, err = newCore(s.t.Context(), s.plan, s.log, epoch); err != nil {
		fmt.Fprintf(&s.out, "error: %v\n", err)
		return
	}
	s.core.votes.Witnesses = s.witnesses
	s.do(s.core.Start(s.now))
}

func (s *stage) step(in Input) {
	if !s.recovering {
		if s.last = in; in.Kind == InReply {
			s.sent = append(s.sent, in)
		}
	}
	s.do(s.core.Step(s.now, in))
	if s.crashes == afterInputs && !s.recovering {
		s.recover(false)
	}
}

// tick lets ms milliseconds pass. The core acts at each time at which it asked to be called.
func (s *stage) tick(ms uint64) {
	end := s.now + ms
	for {
		at, ok := s.core.Wake()
		if !ok || at > end {
			break
		}
		s.now = max(s.now, at)
		s.step(Input{Kind: InTick})
	}
	s.now = end
	s.step(Input{Kind: InTick})
}

// do prints outputs, checks them and stores their records.
func (s *stage) do(outputs []Output) {
	queue := append([]Output(nil), outputs...)
	for len(queue) > 0 {
		o := queue[0]
		queue = queue[1:]
		s.print(o)
		s.checkOutput(o)
		if o.Kind == OutHandOver {
			tip := wire.HashRecord(queue[0].Frame).Tip()
			s.check(s.log.HandOver(s.t.Context(), queue[0].N, tip, o.Frame))
		}
		if o.Kind == OutDecide {
			in := Input{Kind: InDecided, Err: s.decides}
			if in.Err == nil {
				in.Err = s.log.Decide(s.t.Context(), *o.Decisions)
			}
			queue = append(queue, s.core.Step(s.now, in)...)
		}
		if o.Kind != OutAppend && o.Kind != OutMember && o.Kind != OutRetire {
			continue
		}
		if s.hold {
			s.held = append(s.held, o)
			continue
		}
		if s.crashes >= beforeStores && !s.recovering {
			if s.crashes == afterStores {
				s.store(o, "ok")
			}
			s.recover(s.crashes == beforeStores)
			return
		}
		queue = append(queue, s.core.Step(s.now, s.store(o, "ok"))...)
	}
	s.checkCore()
}

var errDisk = errors.New("no space left on device")

// store does an append or adds a member, and returns the outcome.
func (s *stage) store(o Output, how string) Input {
	if o.Kind == OutRetire {
		return Input{Kind: InRetired, ID: o.ID, Err: s.log.Retire(s.t.Context(), o.ID)}
	}
	if o.Kind == OutMember {
		if how == "fail" {
			return Input{Kind: InStoreFailed, Count: 1, Err: errDisk}
		}
		s.check(s.log.AddMembers(s.t.Context(), []string{o.ID}))
		return Input{Kind: InStored, Count: 1}
	}
	if how != "fail" {
		err := s.log.Append(s.t.Context(), o.N, o.Frame)
		var conflict *runlog.ConflictError
		if errors.As(err, &conflict) {
			return Input{Kind: InConflict, N: o.N, Frame: conflict.Record}
		}
		s.check(err)
	}
	if how != "ok" {
		return Input{Kind: InAppendFailed, N: o.N, Err: errDisk}
	}
	return Input{Kind: InAppended, N: o.N}
}

func (s *stage) settle(name, how string) {
	kind := map[string]OutputKind{"append": OutAppend, "store": OutMember}[name]
	held := s.held
	s.held = nil
	for _, o := range held {
		if o.Kind == kind {
			s.step(s.store(o, how))
		} else {
			s.held = append(s.held, o)
		}
	}
}

// storeForeign stores the record after the core's last one.
func (s *stage) storeForeign(args []string) {
	_, keys := splitArgs(args)
	r := wire.Record{N: s.core.N + 1, Prev: s.core.Hash, Epoch: 1}
	if v, ok := keys["epoch"]; ok {
		r.Epoch = s.number(v)
	}
	switch args[0] {
	case "round", "fork":
		r.Kind = wire.KindRound
		r.Round = &wire.Round{Round: s.core.Rounds + 1, StepSize: 1, Perturbations: 2, Contributors: 1,
			Phase: s.core.Due(), Terms: []wire.Term{{Scalars: wire.AppendScalars(nil, 8, 9)}}}
		if args[0] == "fork" {
			r.Prev[0]++
		}
	case "end":
		r.Kind, r.End = wire.KindEnd, &wire.End{Reason: wire.EndRequested, Text: "by another"}
	case "rollback":
		r.Kind, r.To = wire.KindRollback, 1
	case "change":
		r.Kind, r.Change = wire.KindChange, s.change([]string{"step=7"})
	case "plan":
		r.Kind, r.Plan, r.Prev = wire.KindPlan, chaintest.Plan(s.t), wire.Genesis("r")
		for key, value := range keys {
			if key != "epoch" {
				s.check(planfile.Set(r.Plan, key, value))
			}
		}
	case "same":
		s.check(s.log.Append(s.t.Context(), r.N, s.core.next.frame))
		return
	}
	record := []byte("garbage")
	if r.Kind != 0 {
		record = r.Append(nil)
	}
	s.check(s.log.Append(s.t.Context(), r.N, record))
}

func (s *stage) change(fields []string) *plan.Change {
	c := &plan.Change{}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		s.check(planfile.SetChange(c, name, value))
	}
	return c
}
