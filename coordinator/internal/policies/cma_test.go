package policies_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/internal/engine"
	"github.com/zofl/zofl/coordinator/internal/logindex"
	"github.com/zofl/zofl/coordinator/internal/policies"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
	"github.com/zofl/zofl/wire/survey"
)

const devices = 3

// A reply is what a device answers to a round: the scalars, its least loss, and what it found when
// it evaluated a candidate again. Without scalars the device declines, as no candidate has a loss.
type reply func(n uint64, device, candidates int) (scalars []float32, loss, again float32)

// A run has an engine whose devices answer at once.
type run struct {
	*testing.T
	plan   *plan.Plan
	log    *runlog.Memory
	core   *engine.Core
	reply  reply
	killed bool // another coordinator takes over after each record
	asked  int  // candidates, by the last announcement
	handed []byte
	reason string // of the pause
	now    uint64
}

func newRun(t *testing.T, reply reply, killed bool, fields ...string) *run {
	t.Helper()
	p, err := preset.Unbound("cma", "r", 2)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey, p.DigestEvery = make([]byte, 32), 0
	p.Members, p.Target, p.Quorum = devices, devices, devices
	if _, err := planfile.SetAll(p, append([]string{"step=0.5"}, fields...)); err != nil {
		t.Fatal(err)
	}
	if err := plancheck.Validate(p); err != nil {
		t.Fatal(err)
	}
	r := &run{T: t, plan: p, log: &runlog.Memory{}, reply: reply, killed: killed}
	r.lead()
	for _, id := range chaintest.IDs(devices) {
		r.step(engine.Input{Kind: engine.InJoin, ID: id, Token: "to." + id,
			Frame: (&wire.JoinRequest{}).Append(nil)})
	}
	return r
}

// lead has a new coordinator lead the run.
func (r *run) lead() {
	r.Helper()
	epoch, err := r.log.Begin(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	var h engine.History
	if err := h.Load(r.Context(), r.log); err != nil {
		r.Fatal(err)
	}
	r.core, err = engine.New(engine.Config{Plan: r.plan, Epoch: epoch, Policies: policies.Of,
		Handover: func() ([]byte, error) { return r.log.HandedOver(r.Context()) },
		Records: func(last uint64, each func([]byte)) error {
			return logindex.Records(r.Context(), r.log, last, each)
		}}, &h)
	if err != nil {
		r.Fatal(err)
	}
	r.do(r.core.Start(r.now))
}

func (r *run) step(in engine.Input) { r.do(r.core.Step(r.now, in)) }

// do has the log store what the engine says.
func (r *run) do(out []engine.Output) {
	for _, o := range append([]engine.Output(nil), out...) {
		switch o.Kind {
		case engine.OutAnnounce:
			a, err := compact.Decode(o.Frame)
			if err != nil {
				r.Fatal(err)
			}
			r.asked = int(a.Perturbations)
		case engine.OutHandOver:
			r.handed = o.Frame
		case engine.OutAppend:
			record, err := wire.DecodeRecord(o.Frame)
			if err != nil {
				r.Fatal(err)
			}
			if err := r.log.HandOver(r.Context(), o.N, wire.HashRecord(o.Frame).Tip(),
				r.handed); err != nil {
				r.Fatal(err)
			}
			if err := r.log.Append(r.Context(), o.N, o.Frame); err != nil {
				r.Fatal(err)
			}
			if r.killed && record.Kind != wire.KindEnd {
				r.lead()
				return
			}
			r.step(engine.Input{Kind: engine.InAppended, N: o.N})
			return
		case engine.OutMember:
			if err := r.log.AddMembers(r.Context(), []string{o.ID}); err != nil {
				r.Fatal(err)
			}
			r.step(engine.Input{Kind: engine.InStored, Count: 1})
		case engine.OutEvent:
			if o.Event.Kind == report.RunPaused {
				r.reason = o.Event.Reason
			}
		}
	}
}

// answer has all devices answer the open record.
func (r *run) answer() {
	n := r.core.N + 1
	for i, id := range chaintest.IDs(devices) {
		scalars, loss, again := r.reply(n, i, r.asked)
		reply := wire.Reply{Kind: wire.Contribution, N: n, Tip: r.core.Hash.Tip(), Weight: 1,
			Loss: loss, Values: wire.AppendScalars(nil, scalars...)}
		if scalars == nil {
			reply = wire.Reply{Kind: wire.Decline, N: n, Tip: reply.Tip, Reason: wire.DeclineLoss}
		} else if r.core.Plan.PerturbationsAuto > 0 {
			reply.Rest = survey.Slope(again)
		}
		r.step(engine.Input{Kind: engine.InReply, ID: id, Frame: reply.Append(nil)})
	}
}

// play has devices answer until the run ends, pauses, or has so many records.
func (r *run) play(records uint64) {
	for r.core.End == nil && r.reason == "" && r.core.N < records {
		before := r.core.N
		for range r.plan.MaxAttempts {
			if r.answer(); r.core.N > before || r.reason != "" {
				break
			}
			r.now += uint64(r.plan.Deadline) // they declined
			r.step(engine.Input{Kind: engine.InTick})
		}
		if r.core.N == before && r.reason == "" {
			r.Fatalf("record %d was not made: %d candidates, %+v", before+1, r.asked,
				r.core.Status().Counters)
		}
	}
}

// text has a line for each record, without epochs.
func (r *run) text() string {
	var b strings.Builder
	err := r.log.Read(r.Context(), 1, func(n uint64, record []byte) bool {
		d, err := wire.DecodeRecord(record)
		if err != nil {
			r.Fatal(err)
		}
		switch d.Kind {
		case wire.KindRound:
			fmt.Fprintf(&b, "%d round %d, %d candidates: %x\n", n, d.Round.Round,
				d.Round.Perturbations, d.Round.Terms[0].Scalars)
		case wire.KindChange:
			fmt.Fprintf(&b, "%d change:", n)
			list, err := planfile.Changed(d.Change)
			if err != nil {
				r.Fatal(err)
			}
			for _, v := range list {
				fmt.Fprintf(&b, " %s=%s", v.Field.Name, v.JSON)
			}
			b.WriteString("\n")
		case wire.KindRollback:
			fmt.Fprintf(&b, "%d rollback to %d\n", n, d.To)
		case wire.KindEnd:
			fmt.Fprintf(&b, "%d end: %v, %s\n", n, d.End.Reason, d.End.Text)
		}
		return true
	})
	if err != nil {
		r.Fatal(err)
	}
	return b.String()
}

// falls is a run whose losses fall for twelve records of a start, to a floor that the starts'
// numbers of candidates say, and are level from then on.
func falls(floor map[int]float32) reply {
	begun, last := uint64(0), 0
	return func(n uint64, device, candidates int) (scalars []float32, loss, again float32) {
		if candidates != last {
			begun, last = n, candidates
		}
		scalars = make([]float32, candidates)
		if n-begun < 12 {
			for k := range scalars {
				scalars[k] = float32(k) / float32(1+n-begun)
			}
		}
		return scalars, floor[candidates] + 1/float32(1+min(n-begun, 12)), 0
	}
}

// TestRestarts: a run that is level begins again with twice the candidates, and ends at the record
// with the least loss of all starts. A coordinator that takes over after any record goes on so.
func TestRestarts(t *testing.T) {
	floors := map[int]float32{6: 3, 12: 1, 24: 2}
	var texts []string
	for _, killed := range []bool{false, true} {
		r := newRun(t, falls(floors), killed, "restarts=2", "batch=0")
		r.play(400)
		texts = append(texts, r.text())
	}
	if texts[0] != texts[1] {
		t.Errorf("with coordinators that take over:\n%s\nwithout:\n%s", texts[1], texts[0])
	}
	var kinds []string
	for line := range strings.Lines(texts[0]) {
		if _, rest, _ := strings.Cut(strings.TrimSpace(line), " "); !strings.HasPrefix(rest, "round") {
			kinds = append(kinds, rest)
		}
	}
	if len(kinds) != 6 || kinds[0] != "rollback to 1" ||
		kinds[1] != "change: perturbations=12 restarts=1" || kinds[2] != "rollback to 1" ||
		kinds[3] != "change: perturbations=24 restarts=0" ||
		!strings.HasPrefix(kinds[4], "rollback to ") || !strings.HasPrefix(kinds[5],
		"end: patience, the least loss of 3 starts was 1.07") {
		t.Errorf("records beside rounds: %q\n%s", kinds, texts[0])
	}
}

// TestRestartsKeepChanges: what an operator changed before a restart holds after it. The plan's
// rounds count those of all starts.
func TestRestartsKeepChanges(t *testing.T) {
	r := newRun(t, falls(map[int]float32{6: 3, 12: 4}), false, "restarts=5", "rounds=60")
	r.play(5)
	change := &plan.Change{}
	if err := planfile.SetChange(change, "deadline", "7777"); err != nil {
		t.Fatal(err)
	}
	r.step(engine.Input{Kind: engine.InRequest,
		Record: &wire.Record{Kind: wire.KindChange, Change: change}})
	r.play(400)
	text := r.text()
	if r.core.Plan.Deadline != 7777 || !strings.Contains(text, "deadline=7777") {
		t.Errorf("deadline %d:\n%s", r.core.Plan.Deadline, text)
	}
	if rounds := strings.Count(text, " round "); rounds != 60 || r.core.End == nil ||
		r.core.End.Reason != wire.EndRounds {
		t.Errorf("%d rounds, end %+v", rounds, r.core.End)
	}
}

// TestNoise: noise raises the candidates of records, whoever leads.
func TestNoise(t *testing.T) {
	noisy := func(n uint64, device, candidates int) (scalars []float32, loss, again float32) {
		scalars = make([]float32, candidates)
		for k := range scalars {
			scalars[k] = float32(1 + math.Sin(float64(7*k+device)*float64(n)))
		}
		return scalars, 5, 9
	}
	var texts []string
	for _, killed := range []bool{false, true} {
		r := newRun(t, noisy, killed, "perturbations_auto=on")
		r.play(80)
		if r.asked != 384 {
			t.Errorf("%d candidates, want 384", r.asked)
		}
		texts = append(texts, r.text())
		if killed {
			continue
		}
		r.play(400)
		if !strings.Contains(r.reason, "384 candidates") || r.core.N > 120 {
			t.Errorf("record %d: pause %q", r.core.N, r.reason)
		}
	}
	if texts[0] != texts[1] {
		t.Errorf("with coordinators that take over:\n%s\nwithout:\n%s", texts[1], texts[0])
	}
}

// TestExact: where no device's first pair differs, a change ends the rule.
func TestExact(t *testing.T) {
	r := newRun(t, falls(map[int]float32{6: 3}), false, "perturbations_auto=on")
	r.play(8)
	if text := r.text(); strings.Count(text, "change") != 1 ||
		!strings.Contains(text, "3 change: perturbations_auto=\"off\"") {
		t.Errorf("records:\n%s", text)
	}
}

// TestStops: a run whose losses no longer differ ends; one whose losses never did pauses.
func TestStops(t *testing.T) {
	r := newRun(t, falls(map[int]float32{6: 3}), false)
	r.play(100)
	if r.core.End == nil || r.core.End.Reason != wire.EndPatience || r.core.N > 40 {
		t.Errorf("record %d: end %+v", r.core.N, r.core.End)
	}
	r = newRun(t, func(_ uint64, _, candidates int) ([]float32, float32, float32) {
		return make([]float32, candidates), 7, 0
	}, false)
	r.play(100)
	if !strings.Contains(r.reason, "constant") || r.core.N != 21 {
		t.Errorf("record %d: pause %q", r.core.N, r.reason)
	}
	r.reason = ""
	r.step(engine.Input{Kind: engine.InResume})
	if r.play(30); r.core.N != 30 {
		t.Errorf("resumed: record %d, pause %q", r.core.N, r.reason)
	}
}

// TestBoxes: within boxes the first sigma is a tenth of their sides, and nobody is asked.
func TestBoxes(t *testing.T) {
	r := newRun(t, falls(map[int]float32{6: 3}), true, "step=auto",
		`boxes=[{"low":0,"high":9}]`)
	r.play(4)
	if text := r.text(); !strings.HasPrefix(text, "2 change: step=0.1\n3 round 1") {
		t.Errorf("records:\n%s", text)
	}
}

// TestNoLoss: where no candidate has a loss, the next record has other candidates, and in the end a
// smaller sigma. Only a run that has none with any sigma pauses. One device of three decides
// nothing.
func TestNoLoss(t *testing.T) {
	for _, c := range []struct{ last, devices int }{{6, 3}, {9, 3}, {99, 3}, {6, 1}} {
		var texts []string
		for _, killed := range []bool{false, true} {
			r := newRun(t, func(n uint64, device, candidates int) ([]float32, float32, float32) {
				if n >= 5 && n <= uint64(c.last) && device < c.devices {
					return nil, 0, 0
				}
				scalars := make([]float32, candidates)
				scalars[1] = 1
				return scalars, 1 / float32(n), 0
			}, killed, "quorum=1")
			r.play(14)
			texts = append(texts, r.text())
			text, steps := texts[0], strings.Count(texts[0], "step=")
			same := strings.Count(text, "change: perturbations=6\n")
			if c.devices < 3 {
				same, steps = same+2, steps+1
			}
			switch {
			case c.last == 6 && same == 2 && steps <= 1 && r.reason == "":
			case c.last == 9 && same == 2 && steps == 3 && r.reason == "" &&
				strings.Contains(text, "step=0.0009765625\n10 round"):
			case c.last == 99 && same == 2 && steps == 5 && (killed ||
				strings.Contains(r.reason, "no finite loss (3)")):
			default:
				t.Errorf("until record %d: pause %q\n%s", c.last, r.reason, text)
			}
		}
		if texts[0] != texts[1] {
			t.Errorf("with coordinators that take over:\n%s\nwithout:\n%s", texts[1], texts[0])
		}
	}
}
