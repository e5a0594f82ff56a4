package fleet_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// securePlan returns a plan that allows secure aggregation.
func securePlan(t testing.TB, devices, rounds int, secure uint8) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound("decomfl", "secure", 30)
	if err != nil {
		t.Fatal(err)
	}
	p.Members, p.Target, p.Quorum = uint32(devices), uint32(devices), uint32(devices)/2+1
	p.Weights, p.Bound, p.ClaimBound, p.Trust = plan.Equal, 0, 0, 0
	p.EvalEvery, p.EvalCount, p.Metrics, p.Rounds, p.StepSize = 0, 0, nil, uint64(rounds), 0.02
	p.MaxScalar, p.Secure, p.RunKey = 1000, secure, bytes.Repeat([]byte{7}, 32)
	return p
}

func secureBowls(n int) (devices []objective.Objective) {
	for i := range n {
		devices = append(devices, &bowl{dim: 30, at: float64(i) / 4})
	}
	return devices
}

// TestSecureRuns: a run with secure aggregation ends at the same model as the run without it,
// within the rounding error of the encoding.
func TestSecureRuns(t *testing.T) {
	for _, steps := range []uint32{1, 3} {
		var params [2][]float32
		for secure := range params {
			p := securePlan(t, 10, 8, uint8(secure))
			p.Steps, p.Perturbations = steps, 4
			r, err := fleet.Run(t.Context(), p, secureBowls(10), fleet.Options{})
			if err != nil {
				t.Fatal(err)
			}
			params[secure] = r.Params
			if last := r.Rounds[7]; last.Up == 0 || last.Up+last.Down != last.Bytes {
				t.Errorf("secure=%d: %d bytes up, %d down, %d in all", secure, last.Up, last.Down, last.Bytes)
			}
		}
		far := 0.0
		for i, v := range params[0] {
			far = max(far, math.Abs(float64(v-params[1][i])))
		}
		if !(far > 0 && far < 1e-4) {
			t.Errorf("%d steps: the models differ by %v, want less than 1e-4, and more than 0", steps,
				far)
		}
	}
}

// TestSecureNoise: noise by the devices works with secure aggregation, in single and in half
// precision. The runs learn, with equal replicas.
func TestSecureNoise(t *testing.T) {
	for _, precision := range []plan.Precision{plan.Single, plan.Half} {
		p := securePlan(t, 4, 60, 1)
		p.DPClip, p.DPNoise, p.DPDelta, p.Diverge, p.StepSize = 5, 0.01, 1e-5, 0, 0.2
		p.Precision, p.Target = precision, 4
		var devices []objective.Objective
		for range 4 {
			devices = append(devices, &bowl{dim: 30, at: 1})
		}
		r, err := fleet.Run(t.Context(), p, devices, fleet.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range r.Params {
			sum += math.Pow(float64(v)-1, 2) / 30
		}
		if !(sum < 0.5) {
			t.Errorf("precision %v: loss %v, want it to fall below 0.5", precision, sum)
		}
	}
}
