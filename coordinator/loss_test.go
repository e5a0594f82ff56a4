package coordinator

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/wire"
)

func TestLossWatch(t *testing.T) {
	const huge = math.MaxFloat32
	for _, test := range []struct {
		name    string
		diverge float64
		losses  []float64
		want    bool
	}{
		{"no rounds", 1, nil, false},
		{"never", 0, []float64{1, 1, 1, 1, 1, 1e30, 1e30, 1e30}, false},
		{"steady", 1, []float64{1, 1, 1, 1, 1, 1, 1}, false},
		{"a spike", 1, []float64{1, 1, 1, 1, 1, 50, 1, 1}, false},
		{"two that are absurd", 1, []float64{1, 1, 1, 1, 1, huge, 1, huge, 1, 1}, false},
		{"too early to say", 1, []float64{1, 9, 90, 900}, false},
		{"growth", 1, []float64{1, 1, 1, 1, 1, 9, 9, 9}, true},
		{"from near 0", 1, []float64{0.001, -0.4, 0.3, 0.5, -0.2, 0.4, 0.5, 0.3, 0.4, 0.5, 0.4}, false},
		{"from 0", 1, []float64{0, 0.1, -0.1, 0.1, 0, 5, 5, 5}, true},
		{"as much as was gained", 1, slices.Concat(repeat(0.1, 5), repeat(-9, 40), repeat(9, 40)), false},
		{"more than was gained", 1, slices.Concat(repeat(0.1, 5), repeat(-9, 40), repeat(11, 40)), true},
		{"negative losses", 0.5, slices.Concat(repeat(-4, 5), repeat(2, 9)), true},
	} {
		var w lossWatch
		for _, loss := range test.losses {
			w.observe(loss)
		}
		if got := w.diverged(test.diverge); (got != "") != test.want {
			t.Errorf("%s: %q, want diverged %t", test.name, got, test.want)
		}
	}
}

func repeat(loss float64, n int) []float64 { return slices.Repeat([]float64{loss}, n) }

// TestLossWatchOfNoise has objectives that begin at 0 and stay there.
func TestLossWatchOfNoise(t *testing.T) {
	ended := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var w lossWatch
		for range 1000 {
			w.observe(rng.NormFloat64())
			if w.diverged(1) != "" {
				ended++
				break
			}
		}
	}
	if ended > 0 {
		t.Errorf("%d of 200 runs ended, want none", ended)
	}
}

// playLosses has devices contribute their losses for some rounds, and returns why
// the run ended.
func playLosses(t *testing.T, rounds int, losses func(round, device int) float32) *wire.End {
	t.Helper()
	const devices = 5
	plan := testPlan(t)
	plan.Members, plan.Target, plan.Diverge = devices, devices, 1
	c := newTestCore(t, plan, devices)
	for round := range rounds {
		for i, id := range ids(devices) {
			r := wire.Reply{Kind: wire.Contribution, N: c.n + 1, Tip: c.hash.Tip(), Weight: 1,
				Loss: losses(round, i), Values: wire.AppendScalars(nil, 1, 2)}
			c.step(uint64(round), input{kind: inReply, id: id, frame: r.Append(nil)})
		}
		for c.phase == appending {
			c.step(uint64(round), input{kind: inAppended, n: c.n + 1})
		}
	}
	if c.ended == nil && c.rounds != uint64(rounds) {
		t.Fatalf("%d rounds were done, want %d", c.rounds, rounds)
	}
	return c.ended
}

func TestDivergence(t *testing.T) {
	for _, lie := range []float32{200, 1e30, math.MaxFloat32, -math.MaxFloat32} {
		if end := playLosses(t, 40, func(round, device int) float32 {
			if device < 2 && round >= 10 {
				return lie
			}
			return 2.3 + float32(device)/10
		}); end != nil {
			t.Errorf("2 of 5 devices that report %v ended the run: %+v", lie, end)
		}
	}
	end := playLosses(t, 40, func(round, device int) float32 {
		if device == 0 {
			return -math.MaxFloat32
		}
		return 2 + float32(round*device)
	})
	if end == nil || end.Reason != wire.EndDiverged {
		t.Errorf("losses that grow ended the run by %+v, want that it diverged", end)
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		losses []float32
		want   float32
	}{{[]float32{3}, 3}, {[]float32{9, 1}, 1}, {[]float32{9, 1, 5}, 5}, {[]float32{4, 3, 2, 1}, 2}} {
		if got := median(slices.Clone(test.losses)); got != test.want {
			t.Errorf("median of %v is %v, want %v", test.losses, got, test.want)
		}
	}
}
