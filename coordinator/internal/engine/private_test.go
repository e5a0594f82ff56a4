package engine

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// noisyRound hands a core ten contributions of 100 scalars, and returns the outputs of the last.
func noisyRound(c *Core, values func(device, p int) float32) []Output {
	var out []Output
	for d, frame := range contributions(c, besieged, func(d int) []float32 {
		v := make([]float32, 100)
		for p := range v {
			v[p] = values(d, p)
		}
		return v
	}) {
		out = c.Step(c.now+1, Input{Kind: InReply, ID: ids(besieged)[d], Frame: frame})
	}
	return out
}

func noisyPlan(t *testing.T, sigma string) *plan.Plan {
	return methodPlan(t, []string{"dp_clip=2", "dp_noise=" + sigma, "dp_delta=1e-5",
		"dp_by=coordinator", "diverge=0", "perturbations=100", "steps=1"}, besieged)
}

// noisyMeans returns the record's scalars.
func noisyMeans(t *testing.T, c *Core) []float64 {
	t.Helper()
	r, err := wire.DecodeRecord(c.next.frame)
	if err != nil || len(r.Round.Terms) != 1 || r.Round.Contributors != besieged {
		t.Fatalf("record %x: %v", c.next.frame, err)
	}
	s := r.Round.Terms[0].Scalars
	v := make([]float64, len(s)/4)
	for i := range v {
		v[i] = float64(s.At(i))
	}
	return v
}

func norm(v []float64) float64 {
	sum := 0.0
	for _, a := range v {
		sum += a * a
	}
	return math.Sqrt(sum)
}

// TestNoisyMean: the record has the mean of the clipped contributions plus noise, and the noise has
// the standard deviation sigma*C over the number of contributors.
func TestNoisyMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var scalars [besieged][100]float64
	want := make([]float64, 100)
	for d := range scalars {
		scale := math.Ldexp(1, d-5) / 10 // some norms are above 2, some below
		for p := range scalars[d] {
			scalars[d][p] = float64(float32(rng.NormFloat64() * scale))
		}
		factor := min(1, 2/norm(scalars[d][:]))
		for p, v := range scalars[d] {
			want[p] += factor * v / besieged
		}
	}
	for _, sigma := range []struct {
		text string
		of   float64
	}{{"0.01", 0.01}, {"5", 5}} {
		c := newTestCore(t, noisyPlan(t, sigma.text), besieged)
		noisyRound(c, func(d, p int) float32 { return float32(scalars[d][p]) })
		got := noisyMeans(t, c)
		for p := range got {
			got[p] -= want[p]
		}
		usual := 10 * sigma.of * 2 / besieged // the norm of 100 scalars of noise
		if n := norm(got); !(n > 0.75*usual && n < 1.25*usual) {
			t.Errorf("noise %v: the mean is %v off, want about %v", sigma.of, n, usual)
		}
	}
}

// TestOneDeviceMovesTheMean: with the same noise, one device moves the mean by at most C over the
// number of contributors, whatever it sends. The noise is calibrated to that number.
func TestOneDeviceMovesTheMean(t *testing.T) {
	var means [][]float64
	for _, last := range []float32{0, 9000, -1, 1e-3} {
		c := newTestCore(t, noisyPlan(t, "1"), besieged)
		noisyRound(c, func(d, p int) float32 {
			if d == besieged-1 {
				return last
			}
			return float32(d * p % 7)
		})
		means = append(means, noisyMeans(t, c))
	}
	for i, m := range means[1:] {
		for p := range m {
			m[p] -= means[0][p]
		}
		if n := norm(m); n > 2.0/besieged*1.0001 || i == 0 && n < 1.9/besieged {
			t.Errorf("case %d: one device moved the mean by %v, want at most %v", i, n, 2.0/besieged)
		}
	}
}

// TestNoiseIsPublishedOnce: until the log has a record, the core gives the record to nothing but
// the log. A coordinator that continues gives the same bytes to the log again. If the coordinator
// dies, the next coordinator publishes the only record of the round.
func TestNoiseIsPublishedOnce(t *testing.T) {
	log, plan := &runlog.Memory{}, noisyPlan(t, "1")
	values := func(d, p int) float32 { return float32(d * p % 7) }
	first, err := newCore(t.Context(), plan, log, 1)
	if err != nil {
		t.Fatal(err)
	}
	begin := first.Start(0)
	if err := log.Append(t.Context(), 1, begin[0].Frame); err != nil {
		t.Fatal(err)
	}
	first.Step(0, Input{Kind: InAppended, N: 1})
	for _, id := range ids(besieged) {
		first.Step(0, joinOf(id))
	}
	first.Step(0, Input{Kind: InStored, Count: besieged})
	drawn := append([]Output(nil), noisyRound(first, values)...)
	record := bytes.Clone(first.next.frame)
	drawn = append(drawn, first.Step(first.now, Input{Kind: InAppendFailed, N: 2,
		Err: errors.New("no answer")})...)
	again := 0
	for range 50 {
		drawn = append(drawn, first.Step(first.now+1000, Input{Kind: InTick})...)
	}
	scalars := record[len(record)-200:]
	for _, o := range drawn {
		switch {
		case o.Kind == OutAppend && bytes.Equal(o.Frame, record):
			again++
		case o.Kind == OutAppend:
			t.Errorf("the log is handed %x, and before %x", o.Frame, record)
		case bytes.Contains(o.Frame, scalars):
			t.Errorf("output of kind %d has the scalars of a record that is not stored", o.Kind)
		}
	}
	if again < 2 {
		t.Errorf("the log was handed the record %d times, want it again", again)
	}

	// The process dies here. The log has only the plan.
	second, err := newCore(t.Context(), nil, log, 2)
	if err != nil {
		t.Fatal(err)
	}
	second.Start(0)
	for _, id := range ids(besieged) {
		second.Step(0, joinOf(id))
	}
	second.Step(0, Input{Kind: InStored, Count: besieged})
	noisyRound(second, values)
	if second.N != 1 || bytes.Contains(second.next.frame, scalars) {
		t.Errorf("after record %d the successor draws the same noise: %x", second.N, second.next.frame)
	}
}
