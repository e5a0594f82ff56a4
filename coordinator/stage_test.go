package coordinator

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire"
)

// A stage is a core, a log and the commands of a transcript:
//
//	plan field=value ...   begins a run of testPlan with other fields
//	restart                another coordinator on the same log
//	hold | release         leaves appends and members to the next two | stores them
//	append ok|fail         what the append came to
//	store ok|fail          what the new members came to
//	join id ...            requests to join
//	reply id ... g=... [w=1] [loss=1] [n=] [tip=]
//	decline id ... [reason=1] [n=] [tip=]
//	eval id ... m=... [w=1] [n=] [tip=]
//	digest id ... d=hex [n=] [tip=]
//	raw id hex             any frame, as a reply
//	tick ms                time passes
//	pause text | resume | end text | stop
//	asked id ...           who of them the present attempt asks
//	counters | status
//
// Where a reply takes ids, @asked, @unasked and @0 stand for members; some=2
// takes the first two.
type stage struct {
	t    *testing.T
	core *core
	plan *wire.Plan
	log  *MemoryLog
	now  uint64
	hold bool
	held []output // appends and members that wait
	out  strings.Builder
	wire bytes.Buffer
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
		s.settle(name, text == "ok")
	case "join":
		for _, id := range args {
			s.step(input{kind: inJoin, id: id, token: "to." + id, frame: (&wire.JoinRequest{}).Append(nil)})
		}
	case "reply", "decline", "eval", "digest":
		s.send(name, args)
	case "raw":
		frame, err := hex.DecodeString(args[1])
		s.check(err)
		s.step(input{kind: inReply, id: args[0], frame: frame})
	case "tick":
		s.tick(s.number(args[0]))
	case "pause":
		s.step(input{kind: inPause, text: text})
	case "resume":
		s.step(input{kind: inResume})
	case "end":
		s.step(input{kind: inEnd, text: text})
	case "stop":
		s.step(input{kind: inStop})
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
	s.plan, s.log = testPlan(s.t), &MemoryLog{}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		s.check(s.plan.Set(name, value))
	}
	s.restart()
}

func (s *stage) restart() {
	s.held = nil
	var err error
	if s.core, err = newCore(s.plan, s.log); err != nil {
		fmt.Fprintf(&s.out, "error: %v\n", err)
		return
	}
	s.do(s.core.start(s.now))
}

func (s *stage) step(in input) { s.do(s.core.step(s.now, in)) }

// tick lets ms pass, and the core act whenever it wants to.
func (s *stage) tick(ms uint64) {
	end := s.now + ms
	for {
		at, ok := s.core.wake()
		if !ok || at > end {
			break
		}
		s.now = max(s.now, at)
		s.step(input{kind: inTick})
	}
	s.now = end
	s.step(input{kind: inTick})
}

// do prints outputs, checks them, and stores what is to be stored.
func (s *stage) do(outputs []output) {
	queue := append([]output(nil), outputs...)
	for len(queue) > 0 {
		o := queue[0]
		queue = queue[1:]
		s.print(o)
		s.checkOutput(o)
		if o.kind != outAppend && o.kind != outMember {
			continue
		}
		if s.hold {
			s.held = append(s.held, o)
			continue
		}
		queue = append(queue, s.core.step(s.now, s.store(o, true))...)
	}
	s.checkCore()
}

var errDisk = errors.New("no space left on device")

// store does an append or a member, and returns what it came to.
func (s *stage) store(o output, ok bool) input {
	switch {
	case o.kind == outMember && ok:
		s.check(s.log.AddMembers([]string{o.id}))
		return input{kind: inStored, count: 1}
	case o.kind == outMember:
		return input{kind: inStoreFailed, count: 1, err: errDisk}
	case ok:
		s.check(s.log.Append(o.n, o.frame))
		return input{kind: inAppended, n: o.n}
	}
	return input{kind: inAppendFailed, n: o.n, err: errDisk}
}

func (s *stage) settle(name string, ok bool) {
	kind := map[string]outputKind{"append": outAppend, "store": outMember}[name]
	held := s.held
	s.held = nil
	for _, o := range held {
		if o.kind == kind {
			s.step(s.store(o, ok))
		} else {
			s.held = append(s.held, o)
		}
	}
}

// send sends a reply of each id before the first key=value.
func (s *stage) send(name string, args []string) {
	ids, keys := splitArgs(args)
	ids = s.expand(ids)
	if v, ok := keys["some"]; ok {
		ids = ids[:s.number(v)]
	}
	r := wire.Reply{N: s.core.n + 1, Tip: s.core.hash.Tip(), Weight: 1, Loss: 1}
	switch name {
	case "reply":
		r.Kind = wire.Contribution
	case "decline":
		r.Kind, r.Reason = wire.Decline, wire.DeclinePolicy
	case "eval":
		r.Kind, r.N, r.Tip = wire.Evaluation, s.core.evaluation.n, s.core.evaluation.tip
	case "digest":
		r.Kind, r.N = wire.DigestReport, s.core.n
	}
	if v, ok := keys["n"]; ok {
		r.N = s.number(v)
		r.Tip = s.tipFor(&r)
	}
	s.fill(&r, keys)
	for _, id := range ids {
		s.step(input{kind: inReply, id: id, frame: r.Append(nil)})
	}
}

// fill sets what keys name.
func (s *stage) fill(r *wire.Reply, keys map[string]string) {
	for key, v := range keys {
		switch key {
		case "g", "m":
			for x := range strings.SplitSeq(v, ",") {
				r.Values = wire.AppendScalars(r.Values, s.float(x))
			}
		case "w":
			r.Weight = uint32(s.number(v))
		case "loss":
			r.Loss = s.float(v)
		case "reason":
			r.Reason = wire.DeclineReason(s.number(v))
		case "d":
			b, err := hex.DecodeString(v)
			s.check(err)
			copy(r.Digest[:], b)
		case "tip":
			b, err := hex.DecodeString(v)
			s.check(err)
			r.Tip = wire.Tip{}
			copy(r.Tip[:], b)
		}
	}
}

// tipFor returns the tip that a reply about a record of the log has.
func (s *stage) tipFor(r *wire.Reply) wire.Tip {
	n := r.N
	if r.Kind == wire.Contribution || r.Kind == wire.Decline {
		n--
	}
	var tip wire.Tip
	s.check(s.log.Read(n, func(_ uint64, record []byte) bool {
		tip = wire.HashRecord(record).Tip()
		return false
	}))
	return tip
}

// expand replaces @asked by the members of a dense roster that the present
// attempt asks, @0, @1, ... by those of attempts before, @unasked by the rest.
func (s *stage) expand(ids []string) []string {
	var list []string
	for _, id := range ids {
		if id[0] != '@' {
			list = append(list, id)
			continue
		}
		for _, member := range s.core.roster.ids {
			if s.inGroup(id[1:], member) {
				list = append(list, member)
			}
		}
	}
	return list
}

func (s *stage) inGroup(group, id string) bool {
	c := s.core
	m, ok := c.roster.find(id)
	if !ok || len(c.round.attempts) == 0 {
		return false
	}
	switch group {
	case "asked":
		return c.asked(c.round.attempts[len(c.round.attempts)-1], m)
	case "unasked":
		for _, a := range c.round.attempts {
			if c.asked(a, m) {
				return false
			}
		}
		return true
	}
	return c.asked(c.round.attempts[s.number(group)], m)
}

func splitArgs(args []string) (ids []string, keys map[string]string) {
	keys = map[string]string{}
	for _, a := range args {
		if key, value, ok := strings.Cut(a, "="); ok {
			keys[key] = value
		} else {
			ids = append(ids, a)
		}
	}
	return ids, keys
}

func (s *stage) number(v string) uint64 {
	n, err := strconv.ParseUint(v, 10, 64)
	s.check(err)
	return n
}

func (s *stage) float(v string) float32 {
	if v == "nan" {
		return float32(math.NaN())
	}
	x, err := strconv.ParseFloat(v, 32)
	s.check(err)
	return float32(x)
}

func (s *stage) check(err error) {
	if err != nil {
		s.t.Helper()
		s.t.Fatal(err)
	}
}
