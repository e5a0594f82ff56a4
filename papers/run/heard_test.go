package run

import (
	"bytes"
	"sync"
	"testing"

	"github.com/zofl/zofl/internal/dpnoise"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// TestHeard: what the coordinator hears is what its records have: with own directions each device's
// scalars, and their slots.
func TestHeard(t *testing.T) {
	cfg := digits(t, 5)
	var mu sync.Mutex
	heard := map[uint64]map[uint32][]byte{}
	cfg.Heard = func(slot int, frame []byte) {
		r, err := wire.DecodeReply(frame)
		if err != nil || r.Kind != wire.Contribution {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if heard[r.N] == nil {
			heard[r.N] = map[uint32][]byte{}
		}
		heard[r.N][uint32(slot)] = bytes.Clone(r.Values)
	}
	cfg.Plan.Sharing, cfg.Plan.Transport = plan.PerClient, plan.Relay
	r := mustTrain(t, cfg)
	rounds := 0
	if err := r.Log.Read(t.Context(), 1, func(n uint64, record []byte) bool {
		one, err := wire.DecodeRecord(record)
		if err != nil {
			t.Fatal(err)
		}
		if one.Kind != wire.KindRound {
			return true
		}
		rounds++
		if len(one.Round.Terms) != 3 {
			t.Errorf("record %d has %d terms", n, len(one.Round.Terms))
		}
		for _, term := range one.Round.Terms {
			if got := heard[n][term.Source-1]; !bytes.Equal(got, term.Scalars) {
				t.Errorf("record %d, slot %d: heard %x, want %x", n, term.Source-1, got, term.Scalars)
			}
		}
		return true
	}); err != nil || rounds != 5 {
		t.Errorf("%d rounds, %v", rounds, err)
	}
}

// TestSecretAndNoise: a private run and one whose devices add noise go to their end.
func TestSecretAndNoise(t *testing.T) {
	secret := digits(t, 5)
	secret.Secret = secret.Plan.RunKey
	secret.Plan.RunKey = nil
	secret.Plan.SetSecret(secret.Secret)
	if got := mustTrain(t, secret).Curve.Last(); got != 5 {
		t.Errorf("the private run ended after round %d", got)
	}
	noisy := digits(t, 5)
	p := noisy.Plan
	p.Sharing, p.Transport, p.Weights = plan.SharedDirections, plan.Mean, plan.Equal
	p.DPClip, p.DPNoise, p.DPBy, p.DPDelta, p.Diverge = 1, 1, dpnoise.ByDevice, 1e-5, 0
	if got := mustTrain(t, noisy).Curve.Last(); got != 5 {
		t.Errorf("the run with noise ended after round %d", got)
	}
}
