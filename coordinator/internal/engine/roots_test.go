package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/wire"
)

// newRooted returns a siege in which one of the devices is a root.
func newRooted(t *testing.T, root int) *siege {
	t.Helper()
	return newSiege(t, "trust=100", "quorum=5", fmt.Sprintf("roots=[%q]", ids(besieged)[root]))
}

// TestRootsKeepLiarsOut has three of ten devices send the opposite of a common signal, in a run
// whose devices otherwise differ, with and without restarts. The means must have the signal's sign.
func TestRootsKeepLiarsOut(t *testing.T) {
	s := newRooted(t, 4)
	for r := range 60 {
		if r == 40 {
			s.restart()
		}
		all := s.values(nil)
		signal := slices.Clone(all[0])
		for d := range all {
			for p := range all[d] {
				all[d][p] = signal[p] + float32(3*s.rng.NormFloat64())
				if d >= 7 {
					all[d][p] = -1000 * signal[p]
				}
			}
		}
		s.send(all)
		got := s.c.Plan.Precision.Read(s.close().Terms[0].Scalars, 1, len(signal))
		for p, v := range got {
			if math.Signbit(float64(v)) != math.Signbit(float64(signal[p])) && r > 2 {
				t.Errorf("round %d: scalar %d is %v, and the signal %v", r, p, v, signal[p])
			}
		}
	}
	list, _ := s.c.Devices(1)
	for d := range list {
		if liar := d >= 7; liar != (list[d].Doubt == 1) {
			t.Errorf("device %s has lost %v of its weight", list[d].ID, list[d].Doubt)
		}
	}
}

// TestRoundNeedsARoot: a round with a quorum does not close without the root's contribution, even
// after its deadline, and the run says so. With the root's contribution, the round closes at once.
func TestRoundNeedsARoot(t *testing.T) {
	s := newRooted(t, besieged-1)
	c, now := s.c, uint64(1)
	values := s.values(nil)
	s.send(values[:besieged-1])
	for range c.Plan.MaxAttempts {
		now += uint64(c.Plan.Deadline)
		c.Step(now, Input{Kind: InTick})
	}
	reason := c.halt.shortage.Reason
	if c.phase() != collecting || !strings.Contains(reason, "none of the roots") {
		t.Fatalf("phase %d, reason %q, want the round to wait for the root", c.phase(), reason)
	}
	r := wire.Reply{Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Weight: 1, Loss: 1,
		Values: c.Plan.Precision.Append(nil, values[besieged-1]...)}
	c.Step(now+1, Input{Kind: InReply, ID: ids(besieged)[besieged-1], Frame: r.Append(nil)})
	if body := s.close(); body.Contributors == 0 {
		t.Error("nobody contributed")
	}
}

// TestWrongRoot: if no member has the name of a root, no round closes.
func TestWrongRoot(t *testing.T) {
	s := newSiege(t, "trust=10", "quorum=5", "over_sample=1", `roots=["nobody"]`)
	s.send(s.values(nil)[:besieged-1])
	s.c.Step(1+uint64(s.c.Plan.Deadline), Input{Kind: InTick})
	if s.c.phase() != collecting {
		t.Errorf("phase %d, want the round to stay open", s.c.phase())
	}
}

// TestNoRoundWithoutARoot plays rounds whose devices answer in random order, so that a root is
// seldom among the first devices that are enough. Each record must have a root's contribution, and
// move the model, also if the roster grew and the root joined last.
func TestNoRoundWithoutARoot(t *testing.T) {
	for _, tt := range []struct {
		devices int
		members uint32
		root    string
		fields  []string
	}{
		{10, 10, "d0", []string{"bound=4", "trust=10", "quorum=3", "target=5", "over_sample=2"}},
		{21, 10, ids(21)[20], []string{"bound=1.5", "trust=200", "quorum=5", "over_sample=1"}},
	} {
		fields := append(tt.fields, fmt.Sprintf("roots=[%q]", tt.root))
		c := newTestCore(t, methodPlan(t, fields, tt.members), tt.devices)
		rng := rand.New(rand.NewPCG(1, 2))
		for now := uint64(1); c.N < 100; now++ {
			answerAtRandom(c, now, tt.devices, rng)
			if c.phase() != appending {
				t.Fatalf("%v: record %d did not close: %+v", fields, c.N+1, c.counters)
			}
			r, err := wire.DecodeRecord(c.next.frame)
			if err != nil {
				t.Fatal(err)
			}
			x := c.Plan.Precision.Read(r.Round.Terms[0].Scalars, 1, int(c.round.perturbations))
			if !slices.ContainsFunc(x, func(v float32) bool { return v != 0 }) {
				t.Fatalf("%v: record %d does not move the model", fields, c.N+1)
			}
			c.Step(now, Input{Kind: InAppended, N: c.N + 1})
		}
	}
}

// answerAtRandom makes all devices contribute to the open round, in random order.
func answerAtRandom(c *Core, now uint64, devices int, rng *rand.Rand) {
	values := make([]float32, c.round.scalars)
	for _, d := range rng.Perm(devices) {
		for p := range values {
			values[p] = float32(1 + rng.Float64())
		}
		r := wire.Reply{Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Weight: 1, Loss: 1,
			Values: c.Plan.Precision.Append(nil, values...)}
		c.Step(now, Input{Kind: InReply, ID: ids(devices)[d], Frame: r.Append(nil)})
	}
}

// TestPausedRoundTakesTheRoot: a round that reaches its target while the run is paused still lacks
// the root. The round accepts the root's contribution, and closes when an operator resumes the run.
func TestPausedRoundTakesTheRoot(t *testing.T) {
	const root = besieged - 1
	s := newSiege(t, "trust=100", "quorum=5", "target=5", "over_sample=2",
		fmt.Sprintf("roots=[%q]", ids(besieged)[root]))
	c := s.c
	c.Step(1, Input{Kind: InPause, Text: "lunch"})
	s.send(s.values(nil))
	answered := c.cohort.Answers.Of(presence.Device{Slot: root})
	if c.counters.Late != 0 || answered != presence.Contributed {
		t.Errorf("the root is refused: %+v", c.counters)
	}
	if c.phase() != collecting {
		t.Fatalf("phase %d while the run is paused", c.phase())
	}
	c.Step(2, Input{Kind: InResume})
	s.close()
}

// TestLiarsAreNoContributors: the record does not count a device that lost its whole weight as a
// contributor, and the round's loss does not include that device's loss.
func TestLiarsAreNoContributors(t *testing.T) {
	const liars = 3
	s := newRooted(t, 4)
	for r := range 20 {
		all := s.values(nil)
		for d := range all {
			copy(all[d], all[0])
			if d >= besieged-liars {
				for p := range all[d] {
					all[d][p] *= -1
				}
			}
		}
		s.send(all)
		if body := s.close(); body.Contributors != besieged-liars {
			t.Errorf("round %d counts %d contributors, want %d", r, body.Contributors,
				besieged-liars)
		}
	}
}

// TestNobodyIsTrusted: a round in which no contribution has weight still closes, and its record
// does not move the model.
func TestNobodyIsTrusted(t *testing.T) {
	const liar = besieged - 1
	s := newSiege(t, "trust=5", "quorum=1")
	for range 20 {
		all := s.values(nil)
		for d := range all {
			if copy(all[d], all[0]); d == liar {
				for p := range all[d] {
					all[d][p] *= -1
				}
			}
		}
		s.send(all)
		s.close()
	}
	c := s.c
	if list, _ := c.Devices(1); list[liar].Doubt != 1 {
		t.Fatalf("the liar has lost %v of its weight", list[liar].Doubt)
	}
	r := wire.Reply{Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Weight: 1, Loss: 1,
		Values: c.Plan.Precision.Append(nil, s.values(nil)[0]...)}
	c.Step(1, Input{Kind: InReply, ID: ids(besieged)[liar], Frame: r.Append(nil)})
	c.Step(1+uint64(c.Plan.Deadline), Input{Kind: InTick})
	if got := s.longest(s.close()); got != 0 {
		t.Errorf("a term has the length %v", got)
	}
}
