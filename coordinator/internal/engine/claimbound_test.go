package engine

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/wire"
)

// TestOneClaimDoesNotMatter has one device of ten claim 2^20 samples and send scalars of 1.4 and a
// loss of 100. The other devices claim 1000 samples and send scalars of 1 and a loss of 1. The one
// device counts as at most four others, and its loss as the others' loss.
func TestOneClaimDoesNotMatter(t *testing.T) {
	for name, fields := range map[string][]string{
		"mean": nil, "relay": {"sharing=per-client", "transport=relay"},
		"trust": {"bound=1000", "trust=5"},
	} {
		fields = append([]string{"weights=samples", "claim_bound=4"}, fields...)
		c := newTestCore(t, methodPlan(t, fields, besieged), besieged)
		for round := range 4 {
			for d, id := range ids(besieged) {
				claim, value, loss := uint32(1000), float32(1), float32(1)
				if d == 3 {
					claim, value, loss = 1<<20, 1.4, 100
				}
				r := wire.Reply{Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(),
					Weight: claim, Loss: loss, Values: wire.AppendScalars(nil, value, value, value)}
				c.Step(1, Input{Kind: InReply, ID: id, Frame: r.Append(nil)})
			}
			record, err := wire.DecodeRecord(c.next.frame)
			if err != nil {
				t.Fatal(err)
			}
			c.Step(1, Input{Kind: InAppended, N: c.N + 1})
			share := 4000. / 13_000
			if body := record.Round; name == "relay" {
				total := uint32(0)
				for _, w := range body.Weights {
					total += w
				}
				if got := float64(body.Weights[3]) / float64(total); math.Abs(got-share) > 1e-6 {
					t.Errorf("%s, round %d: the liar's share is %v, want %v", name, round, got, share)
				}
			} else if got, want := float64(body.Terms[0].Scalars.At(0)), 1+0.4*share; math.Abs(
				got-want) > 1e-5 {
				t.Errorf("%s, round %d: mean %v, want %v", name, round, got, want)
			}
			if c.watch.last.Loss != 1 {
				t.Errorf("%s, round %d: loss %v, want 1", name, round, c.watch.last.Loss)
			}
		}
	}
}

// TestVectorClaimsAreBounded: a vector counts at most as claim_bound times the number of samples
// that vectors of the earlier rounds usually claimed. In the first round all vectors have the same
// weight.
func TestVectorClaimsAreBounded(t *testing.T) {
	const devices = 4
	plan := densePlan(t, devices, "weights=samples", "claim_bound=2")
	c, log := newDenseCore(t, plan)
	list := senders(rand.New(rand.NewPCG(1, 2)), devices, 4)
	for _, counts := range [][]uint32{{1, 1, 1, 1}, {10, 20, 20, 40}, {10, 20, 20, 40}} {
		for d, claim := range []uint32{10, 20, 20, 1000} {
			list[d].weight = claim
			storeAll(t, c, log, list[d].whole(t, c, 1))
		}
		_, got := lastRound(t, log)
		for d := range list {
			list[d].weight = counts[d]
		}
		if want := wire.AppendScalars(nil, exactMean(list, true)...); !bytes.Equal(got, want) {
			t.Errorf("record %d: the mean is %x, want %x: weights %v", c.N, got, want, counts)
		}
	}
}
