package engine

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/runlog"
	wiregroups "github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// guarded has plans for every way from contributions to a record, with a bound of four medians.
var guarded = map[string][]string{
	"mean":            nil,
	"half":            {"precision=half", "max_scalar=60000"},
	"median":          {"aggregator=median"},
	"trimmed":         {"aggregator=trimmed-mean", "trim=0.2"},
	"relay":           {"sharing=per-client", "transport=relay"},
	"relay of 4 bits": {"sharing=per-client", "transport=relay", "precision=int4", "max_scalar=60000"},
	"clipped relay": {"sharing=per-client", "transport=relay", "aggregator=clipped-mean",
		"clip=1000"},
	"groups":    {"sharing=groups", "transport=relay", "groups=random", "group_size=5", "regroup=2"},
	"trust":     {"trust=10"},
	"neighbors": {"aggregator=trimmed-mean", "trim=0.2", "quorum=5", "liars=2"},
}

// A siege has ten devices, one or more of which may lie.
type siege struct {
	*testing.T
	c     *Core
	epoch uint64
	rng   *rand.Rand
	log   [][]byte
	disk  *disk // since the last restart
}

// A disk is a log, which may be unreadable.
type disk struct {
	runlog.Memory
	broken bool
}

func (d *disk) Read(ctx context.Context, from uint64, f func(n uint64, record []byte) bool) error {
	if d.broken {
		return errors.New("broken disk")
	}
	return d.Memory.Read(ctx, from, f)
}

const besieged = 10

func newSiege(t *testing.T, fields ...string) *siege {
	t.Helper()
	plan := methodPlan(t, append([]string{"bound=4"}, fields...), besieged)
	s := &siege{T: t, c: newTestCore(t, plan, besieged), epoch: 1,
		rng: rand.New(rand.NewPCG(7, 8))}
	s.log = append(s.log, s.c.First)
	return s
}

// round closes a round in which honest devices send scalars of 4 to 8 and the last devices send
// lies. It returns the round's record.
func (s *siege) round(lies ...float32) *wire.Round {
	s.Helper()
	values := s.values(lies)
	s.send(values)
	return s.close()
}

// values returns the contributions of the devices.
func (s *siege) values(lies []float32) (all [][]float32) {
	for d := range besieged {
		values := make([]float32, s.c.round.scalars)
		for p := range values {
			values[p] = float32(4+4*s.rng.Float64()) * float32(1-2*s.rng.IntN(2))
			if at := d - besieged + len(lies); at >= 0 {
				values[p] = lies[at]
			}
		}
		all = append(all, values)
	}
	return all
}

// send makes the first devices send their contributions.
func (s *siege) send(all [][]float32) {
	c := s.c
	for d, values := range all {
		r := wire.Reply{Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Weight: 1, Loss: 1,
			Values: c.Plan.Precision.Append(nil, values...)}
		if c.policy.Groups != nil {
			group, ok := c.policy.Stages.Groups.Of(uint32(d))
			if !ok {
				continue
			}
			r.Rest = wiregroups.AppendReply(nil, group)
		}
		c.Step(1, Input{Kind: InReply, ID: ids(besieged)[d], Frame: r.Append(nil)})
	}
}

// close stores the record of the round that all devices have answered.
func (s *siege) close() *wire.Round {
	s.Helper()
	c := s.c
	if c.phase() != appending {
		s.Fatalf("record %d did not close: %+v", c.N+1, c.counters)
	}
	record, err := wire.DecodeRecord(c.next.frame)
	if err != nil {
		s.Fatal(err)
	}
	s.log = append(s.log, c.next.frame)
	if s.disk != nil {
		if err := s.disk.Append(s.Context(), c.N+1, c.next.frame); err != nil {
			s.Fatal(err)
		}
	}
	c.Step(1, Input{Kind: InAppended, N: c.N + 1})
	return record.Round
}

// longest returns the largest root mean square of the terms of a record.
func (s *siege) longest(r *wire.Round) (longest float64) {
	for _, t := range r.Terms {
		values := s.c.Plan.Precision.Read(t.Scalars, 1, int(r.Perturbations))
		sum := 0.0
		for _, v := range values {
			sum += float64(v) * float64(v)
		}
		longest = max(longest, math.Sqrt(sum/float64(len(values))))
	}
	return longest
}

// TestOneContributionDoesNotMatter has one device of ten send as much as it can, in the first round
// and in a later round. Four medians of contributions of 4 to 8 are at most 32, or 35 in 4 bits.
func TestOneContributionDoesNotMatter(t *testing.T) {
	for name, fields := range guarded {
		t.Run(name, func(t *testing.T) {
			s := newSiege(t, fields...)
			lie := min(990_000, s.c.Plan.MaxScalar/2)
			for r := range 6 {
				var body *wire.Round
				if body = s.round(); r%3 == 0 {
					body = s.round(lie)
				}
				if got := s.longest(body); got > 35 || math.IsNaN(got) {
					t.Errorf("round %d: a term of length %v, want at most 35", body.Round, got)
				}
			}
			if got := s.c.Status().Counters.Cut; got != 2 {
				t.Errorf("%d contributions were cut, want 2", got)
			}
			list, _ := s.c.Devices(1)
			for d := range list {
				if liar := d == besieged-1; (list[d].Cut == 2) != liar {
					t.Errorf("device %s was cut %d times", list[d].ID, list[d].Cut)
				}
			}
		})
	}
}

// TestFirstContribution plays the attack in round 1, before the coordinator knows any contribution.
func TestFirstContribution(t *testing.T) {
	for name, fields := range guarded {
		s := newSiege(t, fields...)
		lie := min(990_000, s.c.Plan.MaxScalar/2)
		if got := s.longest(s.round(lie)); got > 35 {
			t.Errorf("%s: a term of length %v, want at most 35", name, got)
		}
	}
}

// TestHonestRecordsStay: if no device lies, the records equal those of a run without a bound.
func TestHonestRecordsStay(t *testing.T) {
	for name, fields := range guarded {
		if name == "trust" || name == "neighbors" {
			continue // whose weights or lengths depend on the contributions
		}
		with, without := newSiege(t, fields...), newSiege(t, append(fields, "bound=0")...)
		for range 5 {
			a, b := with.round(), without.round()
			if string(frameOf(a)) != string(frameOf(b)) {
				t.Errorf("%s: round %d is %x, want %x", name, a.Round, frameOf(a), frameOf(b))
			}
		}
	}
}

func frameOf(r *wire.Round) []byte {
	return (&wire.Record{N: 2, Epoch: 1, Kind: wire.KindRound, Round: r}).Append(nil)
}

// TestBoundSurvivesRestart restarts the coordinator and has six devices of ten lie in its first
// round. The log shows how long contributions usually are.
func TestBoundSurvivesRestart(t *testing.T) {
	for name, fields := range guarded {
		s := newSiege(t, fields...)
		for range 20 {
			s.round()
		}
		s.restart()
		lie := min(990_000, s.c.Plan.MaxScalar/2)
		if got := s.longest(s.round(lie, lie, -lie, lie, lie, lie)); got > 50 {
			t.Errorf("%s: a term of length %v, want at most 50", name, got)
		}
	}
}

// TestBoundIsThatOfTheLog kills the coordinator after every round, in the middle of every round and
// before every record is stored, in a run whose contributions differ so much that many are scaled
// down. The records must equal those of a coordinator that never stopped.
func TestBoundIsThatOfTheLog(t *testing.T) {
	for name, fields := range guarded {
		if name == "trust" || name == "groups" {
			continue // a new coordinator trusts anew, and draws groups anew
		}
		fields = append(fields, "bound=1.5")
		want, got := newSiege(t, fields...), newSiege(t, fields...)
		for r := range 40 {
			lies := []float32{float32(math.Exp(want.rng.NormFloat64())), 20, 1000}[:r%4]
			got.rng.NormFloat64()
			values := want.values(lies)
			got.values(lies)
			want.send(values)
			got.restart()
			got.send(values[:besieged/2])
			got.restart()
			got.send(values)
			got.restart() // its record was not stored
			got.send(values)
			a, b := got.close(), want.close()
			if string(frameOf(a)) != string(frameOf(b)) {
				t.Fatalf("%s: round %d is %x, want %x", name, r, frameOf(a), frameOf(b))
			}
		}
		if want.c.chain.Cuts() < 20 {
			t.Errorf("%s: %d cuts: the test shows nothing", name, want.c.chain.Cuts())
		}
	}
}

// TestBoundFromAChange: a run begins without a bound, and a change sets one. The core then reads
// the log, which shows how long contributions are. While the core cannot read the log, the run is
// paused.
func TestBoundFromAChange(t *testing.T) {
	for _, broken := range []bool{false, true} {
		s := newSiege(t, "bound=0")
		s.restart()
		for range 20 {
			s.round()
		}
		change := plan.Change{Fields: []uint64{102}}
		change.Values.Bound = 4
		s.c.Step(1, Input{Kind: InPause, Text: "to change it"})
		s.c.Step(1, Input{Kind: InRequest,
			Record: &wire.Record{Kind: wire.KindChange, Change: &change}})
		s.disk.broken = broken
		s.close()
		s.c.Step(1, Input{Kind: InResume})
		if broken {
			if why := s.c.why(); !s.c.halted() || !strings.Contains(why, "broken disk") {
				t.Fatalf("halted %v: %s", s.c.halted(), why)
			}
			s.disk.broken = false
			s.c.Step(1, Input{Kind: InResume})
		}
		const lie = 990_000
		if got := s.longest(s.round(lie, lie, -lie, lie, lie, lie)); got > 50 {
			t.Errorf("a term of length %v, want at most 50", got)
		}
	}
}

// restart makes another coordinator take over with the log.
func (s *siege) restart() {
	s.Helper()
	log := &disk{}
	s.disk = log
	for i, record := range s.log {
		if err := log.Append(s.Context(), uint64(i)+1, record); err != nil {
			s.Fatal(err)
		}
	}
	if err := log.AddMembers(s.Context(), ids(besieged)); err != nil {
		s.Fatal(err)
	}
	var err error
	s.epoch++
	if s.c, err = newCore(s.Context(), nil, log, s.epoch); err != nil {
		s.Fatal(err)
	}
	s.c.Start(0)
}

// TestVariatesAreBounded plays an attack with control variates: one device of ten sends variates of
// 9e5 along each round's directions.
func TestVariatesAreBounded(t *testing.T) {
	for _, control := range []string{"scaffold-1", "scaffold-2"} {
		plan := methodPlan(t, []string{"bound=4", "control=" + control}, besieged)
		c := newTestCore(t, plan, besieged)
		rng := rand.New(rand.NewPCG(7, 8))
		longest := float32(0)
		for range 12 {
			for d, id := range ids(besieged) {
				r := wire.Reply{Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Weight: 1,
					Loss: 1, Values: variateOf(rng, c.round.scalars, 6)}
				if at := max(c.Point.N, c.N); c.round.phase != 1 && at > 1 {
					size := float32(6)
					if d == 3 {
						size = 9e5
					}
					n, ok := c.controlScalars(at)
					if !ok {
						t.Fatalf("no round %d", at)
					}
					v := wire.ControlVariate{N: at, Scalars: variateOf(rng, n, size)}
					r.Rest = v.Append(nil)
				}
				c.Step(1, Input{Kind: InReply, ID: id, Frame: r.Append(nil)})
			}
			record, err := wire.DecodeRecord(c.next.frame)
			if err != nil {
				t.Fatal(err)
			}
			for _, term := range record.Round.Terms {
				longest = max(longest, largestOf(term.Scalars))
			}
			c.Step(1, Input{Kind: InAppended, N: c.N + 1})
		}
		if longest > 40 || c.chain.Cuts() == 0 {
			t.Errorf("%s: a term has %v after %d cuts, want at most 40", control, longest,
				c.chain.Cuts())
		}
	}
}

// variateOf returns n scalars of a size and any sign.
func variateOf(rng *rand.Rand, n int, size float32) (s wire.Scalars) {
	for range n {
		s = wire.AppendScalars(s, size*float32(1-2*rng.IntN(2)))
	}
	return s
}

func largestOf(s wire.Scalars) (largest float32) {
	for i := range len(s) / 4 {
		largest = max(largest, float32(math.Abs(float64(s.At(i)))))
	}
	return largest
}

// TestOneOfTenInARecord: in a round of ten, one device counts as at most 1.5 usual ones, although
// the bound allows 4, and not at all from 8 on, although the bound would cut that to 4.
func TestOneOfTenInARecord(t *testing.T) {
	const usual = 6.1 // of scalars from 4 to 8
	s := newSiege(t, guarded["relay"]...)
	for range 5 {
		s.round()
	}
	r := s.round(20)
	if got := s.longest(r); len(r.Terms) != besieged || math.Abs(got-1.5*usual) > 1 {
		t.Errorf("of 20, %v are left in one of %d terms, want %v", got, len(r.Terms), 1.5*usual)
	}
	r = s.round(70)
	if got := s.longest(r); len(r.Terms) != besieged-1 || got > 1.3*usual {
		t.Errorf("with one of 70, %d terms have at most %v", len(r.Terms), got)
	}
}
