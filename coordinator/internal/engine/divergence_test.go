package engine

import (
	"math"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/wire"
)

// playLosses has devices report losses for some rounds, and returns why the run ended.
func playLosses(t *testing.T, rounds int, losses func(round, device int) float32) *wire.End {
	t.Helper()
	const devices = 5
	plan := chaintest.Plan(t)
	plan.Members, plan.Target, plan.Diverge = devices, devices, 1
	c := newTestCore(t, plan, devices)
	for round := range rounds {
		for i, id := range ids(devices) {
			r := wire.Reply{Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Weight: 1,
				Loss: losses(round, i), Values: wire.AppendScalars(nil, 1, 2)}
			c.Step(uint64(round), Input{Kind: InReply, ID: id, Frame: r.Append(nil)})
		}
		for c.phase == appending {
			c.Step(uint64(round), Input{Kind: InAppended, N: c.N + 1})
		}
	}
	if c.End == nil && c.Rounds != uint64(rounds) {
		t.Fatalf("%d rounds were done, want %d", c.Rounds, rounds)
	}
	return c.End
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
