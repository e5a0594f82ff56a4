package engine

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

// A lateStage has a core of 4 devices. A record asks all of them, and closes with 3 contributions.
type lateStage struct {
	*testing.T
	c       *Core
	records [][]byte
	tips    map[uint64]wire.Tip // of record n-1
}

func newLateStage(t *testing.T, fields ...string) *lateStage {
	t.Helper()
	s := &lateStage{T: t, tips: map[uint64]wire.Tip{}}
	fields = append([]string{"late=2", "over_sample=2", "target=3", "quorum=2"}, fields...)
	s.c = newTestCore(t, methodPlan(t, fields, 4), 4)
	s.note()
	return s
}

// note remembers what devices and the log see of the last record.
func (s *lateStage) note() {
	s.tips[s.c.N+1] = s.c.Hash.Tip()
	s.records = append(s.records, s.c.Recent[len(s.c.Recent)-1])
}

// reply sends a contribution to record n of three scalars.
func (s *lateStage) reply(device int, n uint64, values ...float32) {
	s.send(device, wire.Reply{Kind: wire.Contribution, N: n, Tip: s.tips[n], Weight: 1,
		Loss: float32(device), Values: s.c.Plan.Precision.Append(nil, values...)})
}

func (s *lateStage) send(device int, r wire.Reply) {
	s.c.Step(1, Input{Kind: InReply, ID: ids(4)[device], Frame: r.Append(nil)})
}

// stored makes the log store the pending record, and returns that record.
func (s *lateStage) stored() *wire.Round {
	s.Helper()
	if s.c.phase() != appending {
		s.Fatalf("phase %d: %d collected, %+v", s.c.phase(), s.c.collected(), s.c.counters)
	}
	r, err := wire.DecodeRecord(s.c.next.frame)
	if err != nil {
		s.Fatal(err)
	}
	s.c.Step(1, Input{Kind: InAppended, N: s.c.N + 1})
	s.note()
	return r.Round
}

// close makes devices contribute ones to the open record, and makes the log store the record.
func (s *lateStage) close(devices ...int) *wire.Round {
	s.Helper()
	for _, d := range devices {
		s.reply(d, s.c.N+1, 1, 1, 1)
	}
	return s.stored()
}

// terms describes a record's terms.
func terms(p *plan.Plan, r *wire.Round) (text string) {
	for _, t := range r.Terms {
		text += fmt.Sprintf("[%d %d", t.Back, t.Source)
		for _, g := range p.Precision.Values(t.Scalars, 1, p.Precision.Len(t.Scalars)) {
			text += fmt.Sprintf(" %g", g)
		}
		text += "]"
	}
	return text
}

func (s *lateStage) want(r *wire.Round, contributors uint32, want string) {
	s.Helper()
	if got := terms(&s.c.Plan, r); got != want || r.Contributors != contributors {
		s.Errorf("%d contributors, terms %s, want %d, %s", r.Contributors, got, contributors, want)
	}
}

// aged returns a scalar as a record has it after a delay of age rounds.
func aged(v float32, age float64) float32 { return float32(float64(v) * (1 / math.Sqrt(1+age))) }

// TestLateJoinsTheNextRecord: the update is the sum of s(age) w g over the contributions, divided
// by the sum of w.
func TestLateJoinsTheNextRecord(t *testing.T) {
	root2, root3 := math.Sqrt(2), math.Sqrt(3)
	s := newLateStage(t)
	s.want(s.close(0, 1, 2), 3, "[0 0 1 1 1]")
	s.reply(3, 2, 4, 8, -12)
	r := s.close(0, 1, 2)
	s.want(r, 4, fmt.Sprintf("[0 0 0.75 0.75 0.75][1 0 %g %g %g]",
		float32(1/root2), float32(2*(1/root2)), float32(-3*(1/root2))))
	s.want(s.close(0, 1, 2), 3, "[0 0 1 1 1]")
	s.reply(3, 3, 5, 0, 0) // of age 2: records 4 is between
	s.reply(3, 4, 0, 5, 5) // of age 1
	r = s.close(0, 1, 2)
	s.want(r, 5, fmt.Sprintf("[0 0 0.6 0.6 0.6][1 0 0 %g %g][2 0 %g 0 0]",
		float32(1/root2), float32(1/root2), float32(1/root3)))
}

// A contribution that arrives while the log appends its record joins the next record.
func TestLateWhileAppending(t *testing.T) {
	s := newLateStage(t)
	for d := range 3 {
		s.reply(d, 2, 1, 1, 1)
	}
	s.reply(3, 2, 4, 4, 4)
	s.want(s.stored(), 3, "[0 0 1 1 1]")
	s.want(s.close(0, 1, 2), 4, fmt.Sprintf("[0 0 0.75 0.75 0.75][1 0 %[1]g %[1]g %[1]g]",
		aged(1, 1)))
}

func TestLateRelayed(t *testing.T) {
	s := newLateStage(t, "sharing=per-client", "transport=relay", "weights=samples")
	s.close(0, 1, 2)
	s.close(0, 1, 2)
	late := wire.Reply{Kind: wire.Contribution, N: 2, Tip: s.tips[2], Weight: 9,
		Values: wire.AppendScalars(nil, 4, 8, 12)}
	s.send(3, late)
	late.N, late.Tip, late.Weight = 3, s.tips[3], 7
	s.send(3, late)
	s.reply(3, 4, 2, 2, 2)
	r := s.close(0, 1)
	s.want(r, 5, fmt.Sprintf("[0 1 1 1 1][0 2 1 1 1][0 4 2 2 2][1 4 %g %g %g][2 4 %g %g %g]",
		aged(4, 1), aged(8, 1), aged(12, 1), aged(4, 2), aged(8, 2), aged(12, 2)))
	if want := []uint32{1, 1, 1, 7, 9}; !slices.Equal(r.Weights, want) {
		t.Errorf("weights %d, want %d", r.Weights, want)
	}
}

// TestLateCountsOnce sends each contribution again at every later moment.
func TestLateCountsOnce(t *testing.T) {
	s := newLateStage(t, "late=3")
	s.close(0, 1, 2)
	for range 4 {
		for n := uint64(2); n <= s.c.N; n++ {
			for d := range 4 {
				s.reply(d, n, 8, 8, 8)
			}
		}
		if got := s.c.late.Waiting.Count; got != 1 {
			t.Errorf("before record %d %d contributions wait, want that of device 3", s.c.N+1, got)
		}
		if r := s.close(0, 1, 2); len(r.Terms) != 2 || r.Contributors != 4 {
			t.Errorf("record %d: %s", s.c.N, terms(&s.c.Plan, r))
		}
	}
}

// TestLateRefused: late contributions of these kinds do not count, and each adds to the given
// counter.
func TestLateRefused(t *testing.T) {
	count := func(s *lateStage, counter *uint64, what string, r wire.Reply) {
		t.Helper()
		before := *counter
		s.send(3, r)
		if *counter != before+1 || s.c.late.Waiting.Count != 0 {
			t.Errorf("%s: %d wait, %+v", what, s.c.late.Waiting.Count, s.c.counters)
		}
	}
	s := newLateStage(t)
	for range 4 {
		s.close(0, 1, 2)
	}
	good := wire.Reply{Kind: wire.Contribution, N: 4, Tip: s.tips[4], Weight: 1,
		Values: wire.AppendScalars(nil, 1, 2, 3)}
	r := good
	r.N, r.Tip = 3, s.tips[3]
	count(s, &s.c.counters.Late, "too old", r)
	r = good
	r.N, r.Tip = 1, wire.Tip{}
	count(s, &s.c.counters.Late, "to the plan", r)
	r = good
	r.Tip = s.tips[5]
	count(s, &s.c.counters.WrongTip, "of another state", r)
	r = good
	r.Values = r.Values[:8]
	count(s, &s.c.counters.WrongCount, "of two scalars", r)
	r = good
	r.Values = wire.AppendScalars(nil, 1, 2, float32(math.NaN()))
	count(s, &s.c.counters.NonFinite, "not a number", r)
	r = good
	r.Values = wire.AppendScalars(nil, 1, 2, 1e30)
	count(s, &s.c.counters.TooLarge, "too large", r)
	s.c.late.Past.Find(4).Asked = func(presence.Device) bool { return false }
	count(s, &s.c.counters.Unsampled, "not asked", good)
}

// TestLateAfterRollback: the coordinator drops contributions to records that a rollback undoes,
// also contributions that wait. Contributions to older records stay.
func TestLateAfterRollback(t *testing.T) {
	s := newLateStage(t, "late=5")
	s.close(0, 1, 2)
	s.close(0, 1, 2)
	s.reply(3, 2, 4, 4, 4)
	s.reply(3, 3, 4, 4, 4)
	s.c.Step(1, Input{Kind: InRequest, Record: &wire.Record{Kind: wire.KindRollback, To: 2}})
	s.stored()
	dropped := s.c.counters.Late
	if s.reply(0, 3, 1, 1, 1); s.c.counters.Late != dropped+1 {
		t.Errorf("a contribution to an undone record was taken: %+v", s.c.counters)
	}
	r := s.close(0, 1, 2) // record 5 follows record 2: the rollback is no round
	s.want(r, 4, fmt.Sprintf("[0 0 0.75 0.75 0.75][3 0 %[1]g %[1]g %[1]g]",
		float32(1/math.Sqrt(2))))
}

// A change replaces the open round, whose own contributions are lost. Late contributions continue
// to wait.
func TestLateOutlivesAChange(t *testing.T) {
	s := newLateStage(t)
	s.close(0, 1, 2)
	s.reply(3, 2, 4, 4, 4)
	s.reply(0, 3, 1, 1, 1)
	var change plan.Change
	if err := planfile.SetChange(&change, "step", "0.5"); err != nil {
		t.Fatal(err)
	}
	s.c.Step(1, Input{Kind: InPause})
	s.c.Step(1, Input{Kind: InRequest, Record: &wire.Record{Kind: wire.KindChange, Change: &change}})
	s.stored()
	s.c.Step(1, Input{Kind: InResume})
	dropped := s.c.counters.Late
	if s.reply(1, 3, 1, 1, 1); s.c.counters.Late != dropped+1 {
		t.Errorf("a contribution to a change was taken: %+v", s.c.counters)
	}
	s.want(s.close(0, 1, 2), 4, fmt.Sprintf("[0 0 0.75 0.75 0.75][2 0 %[1]g %[1]g %[1]g]",
		aged(1, 1)))
}

// TestLateOfAnotherEpoch: records do not say which devices contributed. So a restarted coordinator,
// or a coordinator that adopts a record, accepts no late contributions to records that it did not
// close.
func TestLateOfAnotherEpoch(t *testing.T) {
	s := newLateStage(t)
	for d := range 3 {
		s.reply(d, 2, 2, 2, 2)
	}
	other, err := wire.DecodeRecord(s.c.next.frame)
	if err != nil {
		t.Fatal(err)
	}
	other.Epoch = s.c.life.epoch - 1
	s.c.Step(1, Input{Kind: InConflict, N: 2, Frame: other.Append(nil)})
	s.note()
	s.reply(3, 2, 4, 4, 4)
	if s.c.N != 2 || s.c.counters.Adopted != 1 || s.c.counters.Late != 1 {
		t.Errorf("to an adopted record: record %d, %+v", s.c.N, s.c.counters)
	}
	s.close(0, 1, 2)

	log := &runlog.Memory{}
	chaintest.Append(t, log, s.records)
	if err := log.AddMembers(t.Context(), ids(4)); err != nil {
		t.Fatal(err)
	}
	if s.c, err = newCore(t.Context(), nil, log, 2); err != nil {
		t.Fatal(err)
	}
	s.c.Start(0)
	s.reply(3, 3, 4, 4, 4)
	s.want(s.close(0, 1, 2), 3, "[0 0 1 1 1]")
	if s.c.counters.Late != 1 {
		t.Errorf("after a restart: %+v", s.c.counters)
	}
}

// TestLateDoesNotDependOnOrder plays late contributions of each kind in different orders.
func TestLateDoesNotDependOnOrder(t *testing.T) {
	for _, fields := range [][]string{
		{"weights=samples"}, {"precision=half", "max_scalar=60000"},
		{"sharing=per-client", "transport=relay", "weights=samples"},
		{"aggregator=clipped-mean", "clip=3"},
	} {
		orders := rand.New(rand.NewPCG(3, 4))
		var want []byte
		for range 20 {
			s := newLateStage(t, slices.Concat(fields, []string{"late=3", "target=2"})...)
			s.close(0, 1)
			s.close(0, 1)
			rng := rand.New(rand.NewPCG(1, 2))
			send := func(device int, n uint64) func() {
				v := float32(rng.NormFloat64())
				r := wire.Reply{Kind: wire.Contribution, N: n, Tip: s.tips[n], Loss: v,
					Weight: 1 + rng.Uint32N(9), Values: s.c.Plan.Precision.Append(nil, v, 2*v, -v)}
				return func() { s.send(device, r) }
			}
			messages := []func(){send(2, 2), send(3, 2), send(2, 3), send(3, 3), send(0, 4)}
			if fields[0] == "sharing=per-client" {
				messages = messages[2:] // of four, only two would fit
			}
			for _, i := range orders.Perm(len(messages)) {
				messages[i]()
			}
			send(1, 4)()
			if s.c.phase() != appending || want != nil && !bytes.Equal(s.c.next.frame, want) {
				t.Fatalf("%v: phase %d, record %x, want %x", fields, s.c.phase(), s.c.next.frame, want)
			}
			want = s.c.next.frame
		}
	}
}

// A change that lets late contributions count for fewer records, or that makes records smaller,
// drops those that no longer fit. They do not count towards the target either.
func TestLateShrinks(t *testing.T) {
	for _, fields := range []map[string]string{
		{"late": "1"}, {"late": "0", "async": "off"}, {"perturbations": "2"},
	} {
		s := newLateStage(t, "async=on", "late=4", "target=2", "quorum=1")
		s.close(0, 1)
		s.close(0, 1)
		s.c.Step(1, Input{Kind: InPause})
		s.reply(2, 2, 4, 4, 4)
		s.reply(3, 2, 4, 4, 4)
		change := plan.Change{}
		for field, value := range fields {
			if err := planfile.SetChange(&change, field, value); err != nil {
				t.Fatal(err)
			}
		}
		s.c.Step(1, Input{Kind: InRequest,
			Record: &wire.Record{Kind: wire.KindChange, Change: &change}})
		s.stored()
		s.c.Step(1, Input{Kind: InResume})
		s.note()
		if s.c.phase() != collecting || s.c.collected() != 0 {
			t.Errorf("%v: phase %d, %d collected", fields, s.c.phase(), s.c.collected())
		}
		s.reply(0, 5, make([]float32, s.c.round.scalars)...)
		s.reply(1, 5, make([]float32, s.c.round.scalars)...)
		if r := s.stored(); len(r.Terms) != 1 || r.Contributors != 2 {
			t.Errorf("%v: %d contributors, %s", fields, r.Contributors, terms(&s.c.Plan, r))
		}
	}
}
