package engine

import (
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

// The attack on digests has a roster of 16 devices. A round asks 5 devices, and 6 devices conspire.
const (
	leagueRoster = 16
	leagueAsked  = 5
	inLeague     = 6
)

// leagueRun plays rounds in which honest devices report a digest if the round asks them. Conspiring
// devices report another digest, asked or not. leagueRun returns how many references were false,
// and how many right.
func leagueRun(t *testing.T, claimBound float32, witnesses ...string) (wrong, right int) {
	plan := chaintest.Plan(t)
	plan.DigestEvery, plan.Members, plan.Target = 1, leagueRoster, leagueAsked
	plan.ClaimBound = claimBound
	c := newTestCore(t, plan, leagueRoster)
	c.votes.Witnesses = witnesses
	names := ids(leagueRoster)
	digest := func(id string, value byte) {
		r := wire.Reply{Kind: wire.DigestReport, N: c.N, Tip: c.Hash.Tip(), Digest: [8]byte{value}}
		for _, o := range c.Step(1, Input{Kind: InReply, ID: id, Frame: r.Append(nil)}) {
			if o.Kind == OutEvent && o.Event.Kind == report.Referred {
				if o.Event.Digests.Reference == (report.Digest{7}) {
					right++
				} else {
					wrong++
				}
			}
		}
	}
	for range 200 {
		for _, frame := range contributions(c, 1, func(int) []float32 { return []float32{1, 2} }) {
			for _, id := range names {
				c.Step(1, Input{Kind: InReply, ID: id, Frame: frame})
			}
		}
		c.Step(1, Input{Kind: InAppended, N: c.N + 1})
		for _, id := range names[:inLeague] {
			digest(id, 66)
		}
		for slot, id := range names[inLeague:] {
			if c.cohort.Attempt.Cohort.Has(plan.Run, c.N+1, 0, uint32(inLeague+slot), id) {
				digest(id, 7)
			}
		}
	}
	if c.N < 200 {
		t.Fatalf("the run is at record %d", c.N)
	}
	return wrong, right
}

// TestLeagueLiesAboutDigests plays an attack that made honest devices rebuild their state again and
// again: the conspiring devices outnumber the devices that a round asks. The attack now needs a
// majority of the devices asked, which it has in few rounds. If there are witnesses, the attack has
// no effect.
func TestLeagueLiesAboutDigests(t *testing.T) {
	before, _ := leagueRun(t, 0)
	wrong, right := leagueRun(t, 4)
	if before < 190 {
		t.Errorf("the attack gave %d false references in a plan that believes all, want most", before)
	}
	// With a probability of 0.24, 3 or more of the 5 devices asked conspire.
	if wrong > 80 || right < 100 {
		t.Errorf("%d references were false and %d right, want those of the draws", wrong, right)
	}
	if wrong, right := leagueRun(t, 4, "w"); wrong+right > 0 {
		t.Errorf("beside an absent witness %d references, want none", wrong+right)
	}
}
