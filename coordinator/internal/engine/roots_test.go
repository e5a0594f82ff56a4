package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire"
)

// newRooted returns a siege in which the operator vouches for one of the devices.
func newRooted(t *testing.T, root int) *siege {
	t.Helper()
	return newSiege(t, "trust=100", "quorum=5", fmt.Sprintf("roots=[%q]", ids(besieged)[root]))
}

// TestRootsKeepLiarsOut has three of ten devices send against a common signal, in a run whose
// devices differ otherwise, also when it is restarted. The means have the signal's sign.
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

// TestRoundNeedsARoot: a round does not close without the root's contribution, though it has its
// quorum and its deadline passes, and says so; with it, it closes at once.
func TestRoundNeedsARoot(t *testing.T) {
	s := newRooted(t, besieged-1)
	c, now := s.c, uint64(1)
	values := s.values(nil)
	s.send(values[:besieged-1])
	for range c.Plan.MaxAttempts {
		now += uint64(c.Plan.Deadline)
		c.Step(now, Input{Kind: InTick})
	}
	reason := c.shortage.Reason
	if c.phase != collecting || !strings.Contains(reason, "none of the roots") {
		t.Fatalf("phase %d, reason %q, want the round to wait for the root", c.phase, reason)
	}
	r := wire.Reply{Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Weight: 1, Loss: 1,
		Values: c.Plan.Precision.Append(nil, values[besieged-1]...)}
	c.Step(now+1, Input{Kind: InReply, ID: ids(besieged)[besieged-1], Frame: r.Append(nil)})
	if body := s.close(); body.Contributors == 0 {
		t.Error("nobody contributed")
	}
}

// TestWrongRoot: where the roots' names are no member's, no round closes.
func TestWrongRoot(t *testing.T) {
	s := newSiege(t, "trust=10", "quorum=5", "over_sample=1", `roots=["nobody"]`)
	s.send(s.values(nil)[:besieged-1])
	s.c.Step(1+uint64(s.c.Plan.Deadline), Input{Kind: InTick})
	if s.c.phase != collecting {
		t.Errorf("phase %d, want the round to stay open", s.c.phase)
	}
}
