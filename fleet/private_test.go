package fleet_test

import (
	"context"
	"math"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/internal/dpnoise"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// TestPrivateRuns: runs with noise go to their end with equal replicas. Runs with little noise
// learn. Runs with much noise do not, which shows that the noise is added.
func TestPrivateRuns(t *testing.T) {
	for by, name := range map[uint8]string{dpnoise.ByDevice: "device", dpnoise.ByCoordinator: "lead"} {
		losses := map[float32]float64{}
		for _, sigma := range []float32{0.01, 300} {
			p, err := preset.Unbound("decomfl", "private", 30)
			if err != nil {
				t.Fatal(err)
			}
			p.DPClip, p.DPNoise, p.DPBy, p.DPDelta, p.Diverge = 5, sigma, by, 1e-5, 0
			p.Weights, p.Bound, p.ClaimBound = plan.Equal, 0, 0
			p.EvalEvery, p.EvalCount, p.Metrics, p.Rounds, p.StepSize = 0, 0, nil, 60, 0.2
			var devices []objective.Objective
			for range 4 {
				devices = append(devices, &bowl{dim: 30, at: 1})
			}
			r, err := fleet.Run(t.Context(), p, devices, fleet.Options{})
			if err != nil {
				t.Fatalf("dp_by=%s, noise %v: %v", name, sigma, err)
			}
			sum := 0.0
			for _, v := range r.Params {
				sum += math.Pow(float64(v)-1, 2) / 30
			}
			losses[sigma] = sum
		}
		if !(losses[0.01] < 0.5 && losses[300] > 5) {
			t.Errorf("dp_by=%s: losses %v, want the first to fall below 1 and the other to rise", name,
				losses)
		}
	}
}

// TestNoiseOfSum: with masks, the devices' shares of the noise add up to the noise of a sum.
// Devices with a constant loss send only noise, so the model's squared distance from its beginning
// measures the noise. Four shares must give a quarter of what four full noises give.
func TestNoiseOfSum(t *testing.T) {
	distances := map[uint8]float64{}
	for _, of := range []uint8{dpnoise.OfDevice, dpnoise.OfSum} {
		p, err := preset.Unbound("decomfl", "shares", 2000)
		if err != nil {
			t.Fatal(err)
		}
		p.DPClip, p.DPNoise, p.DPOf, p.DPDelta, p.Diverge, p.Secure = 5, 1, of, 1e-5, 0, 1
		p.Members, p.Target, p.Quorum, p.Perturbations, p.MaxScalar = 4, 4, 4, 50, 1000
		p.Weights, p.Bound, p.ClaimBound = plan.Equal, 0, 0
		p.EvalEvery, p.EvalCount, p.Metrics, p.Rounds, p.StepSize = 0, 0, nil, 20, 0.2
		var devices []objective.Objective
		for range 4 {
			devices = append(devices, flatland{2000})
		}
		r, err := fleet.Run(t.Context(), p, devices, fleet.Options{})
		if err != nil {
			t.Fatalf("dp_of=%d: %v", of, err)
		}
		for _, v := range r.Params {
			distances[of] += float64(v) * float64(v)
		}
	}
	if ratio := distances[dpnoise.OfDevice] / distances[dpnoise.OfSum]; !(ratio > 2.8 && ratio < 5.7) {
		t.Errorf("distances %v, ratio %v, want about 4", distances, ratio)
	}
}

// A flatland is a device with a constant loss.
type flatland struct{ dim int }

func (f flatland) Dim() int { return f.dim }

func (flatland) Loss(context.Context, []float32, objective.Batch) (float64, error) { return 1, nil }
