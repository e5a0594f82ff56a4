package reference

import (
	"bytes"
	"math"
	"testing"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// against runs a plan with the production code, and compares its replicas with each other and
// with the reference. against returns the number of rounds that it compared.
func against(t *testing.T, p *plan.Plan) (compared int) {
	r := produce(t, p)
	if t.Failed() {
		return 0
	}
	r.agree(t)
	r.restore(t)
	if p.Estimator == plan.Surrogate {
		r.followSurrogate(t)
		return 0
	}
	r.follow(t)
	return r.compared
}

// replica returns the configuration of a replica of the run.
func (r *run) replica(workers int) replica.Config {
	return replica.Config{Run: r.plan.Run, Dim: r.plan.Dim, RunKey: secret, Workers: workers}
}

// agree checks that all replicas have the same bits: the replicas of the contributing clients, of
// the client that joined after the end, and of replays of the log.
func (r *run) agree(t *testing.T) {
	t.Helper()
	for _, workers := range []int{1, 3} {
		fresh := replica.New(r.replica(workers))
		if _, err := fresh.ApplyAll(r.records); err != nil {
			t.Fatalf("%v\nplan: %+v", err, r.plan)
		}
		r.complete(t, fresh)
		for i, digest := range r.digests {
			if digest != fresh.Digest() {
				t.Fatalf("client %d has another digest than a replay with %d workers\nplan: %+v",
					i, workers, r.plan)
			}
		}
	}
}

// restore saves the state after each record, loads it, and applies the rest of the log.
func (r *run) restore(t *testing.T) {
	t.Helper()
	at := replica.New(r.replica(1))
	for i, record := range r.records {
		if err := at.Apply(record); err != nil {
			t.Fatalf("%v\nplan: %+v", err, r.plan)
		}
		r.complete(t, at)
		var file bytes.Buffer
		if err := at.Save(&file, replica.History{}); err != nil {
			t.Fatal(err)
		}
		restored, _, err := replica.Load(r.replica(1), &file, int64(file.Len()))
		if err != nil {
			t.Fatalf("state after record %d: %v\nplan: %+v", i+1, err, r.plan)
		}
		if _, err := restored.ApplyAll(r.records[i+1:]); err != nil {
			t.Fatalf("restored after record %d: %v\nplan: %+v", i+1, err, r.plan)
		}
		r.complete(t, restored)
		if restored.Digest() != r.digests[0] {
			t.Fatalf("a state restored after record %d ends with other bits\nplan: %+v", i+1, r.plan)
		}
	}
}

// follow compares the model after each round with the reference's.
func (r *run) follow(t *testing.T) {
	t.Helper()
	p, at := r.plan, replica.New(r.replica(1))
	fleet, d := fleetOf(p, r.slots)
	if r.differentiates {
		fleet.Gradient = slope
	}
	f := frameOf(p)
	r.origin = f.origin
	var s *State
	var start []float64
	var first *Round // of two phases
	for _, encoded := range r.records {
		record, err := wire.DecodeRecord(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if err := at.Apply(encoded); err != nil {
			t.Fatal(err)
		}
		r.complete(t, at)
		switch {
		case record.Kind == wire.KindPlan:
			start = f.coordinates(at.Params())
			s, r.doubts = fleet.NewState(start), map[int]bool{}
			s.Evolution = NewEvolution(int(p.Dim), int(p.Perturbations), float64(p.StepSize),
				p.Covariance == plan.LimitedCovariance)
		case record.Kind == wire.KindRound && record.Round.Phase == 1:
			first = contributors(p, r.slots, record.N, record.N, nil)
		case record.Kind == wire.KindRound:
			draw := record.N
			if p.Cohort > 0 {
				draw = first.N
			}
			round := contributors(p, r.slots, record.N, draw, named(p, record.Round))
			round.Point = first
			schedule(p, round, record.Round.Round)
			r.check(t, round, record.Round)
			second := clone(s.Server.V)
			fleet.Round(s, round)
			if d.edge {
				t.Logf("record %d: a scalar is too near to another code", record.N)
				return
			}
			r.compared++
			tolerance := single
			if d.doubtful || p.Precision == plan.Half && p.Control == plan.ScaffoldMean {
				tolerance = half
			}
			if p.Precision.Quantized() && p.Aggregator == plan.ClippedMean {
				tolerance = half // the scale, a half, is rounded down
			}
			r.doubt(s, second, tolerance)
			r.compare(t, record.N, f.coordinates(at.Params()), s, start, tolerance)
		}
	}
	if s == nil || at.Rounds() != p.Rounds {
		t.Fatalf("%d rounds, want %d\nplan: %+v", at.Rounds(), p.Rounds, p)
	}
}

// schedule sets the fields of r that the plan schedules for a round, counted from 1.
func schedule(p *plan.Plan, r *Round, number uint64) {
	r.R, r.P, r.Eta = int(number-1), int(p.Perturbations), float64(p.StepSize)
	if p.StepDecay == plan.InverseSqrt {
		r.Eta /= math.Sqrt(float64(number))
	}
	if r.Factor = 1; p.ServerRule == plan.ServerMean || p.ServerRule == plan.ServerNormalized ||
		p.ServerRule == plan.ServerCMA {
		r.Eta *= share(p, float64(number))
	} else {
		r.Factor = share(p, float64(number))
	}
	for _, point := range p.PerturbationSchedule {
		if point.Round <= number {
			r.P = int(point.Perturbations)
		}
	}
}

// share returns the factor that the plan's decay puts on the step size in a round.
func share(p *plan.Plan, number float64) float64 {
	switch floor := float64(p.Floor); p.StepDecay {
	case plan.Cosine:
		t := math.Min((number-1)/float64(p.Rounds), 1)
		return floor + (1-floor)*math.Pow(math.Cos(math.Pi*t/2), 2)
	case plan.SlowSqrt:
		return math.Pow(1+(number-1)/30, -0.5)
	}
	return 1
}

// check compares the fields of a record with its round.
func (r *run) check(t *testing.T, want *Round, got *wire.Round) {
	t.Helper()
	if int(got.Contributors) != len(want.Clients) || got.Contributors != r.plan.Target ||
		int(got.Perturbations) != want.P ||
		math.Abs(float64(got.StepSize)-want.Eta) > 1e-6*want.Eta {
		t.Fatalf("round %d has %d contributors, P = %d and eta = %v, want %d, %d and %v\nplan: %+v",
			got.Round,
			got.Contributors, got.Perturbations, got.StepSize, len(want.Clients), want.P, want.Eta, r.plan)
	}
}

// The tolerances are the largest difference of a parameter, relative to the largest distance of
// any parameter from its start. Points x + mu z are float32, which gives a scalar a relative
// error of about 2^-24 |x| / mu, here 1e-6, and the errors of the rounds add up. A message with
// half-precision scalars rounds a scalar by up to 2^-11. This rounding makes no difference if
// both sides round the same way, but a value near the middle of two halves may become either
// half. With scaffold-2, production sums the rounded scalars, and the reference sums the exact
// scalars.
const (
	single = 2e-5
	half   = 2e-3
	// ulps is what the iterates of a run lose relative to the parameter itself: half an
	// ulp, 2^-25, per local step.
	ulps = 0x1p-21
)

// gain returns the factor by which the server rule amplifies an error in a move.
func (r *run) gain() float64 {
	p := r.plan
	alpha := float64(p.ServerStep)
	switch p.ServerRule {
	case plan.ServerMean, plan.ServerSign, plan.ServerNormalized, plan.ServerCMA:
		return 1
	case plan.ServerSGD:
		return max(1, alpha)
	case plan.ServerMomentum:
		return max(1, alpha/(1-float64(p.ServerBeta1)))
	}
	return max(1, alpha/math.Sqrt(float64(p.ServerEpsilon)))
}

func (r *run) compare(t *testing.T, n uint64, got []float64, s *State, start []float64,
	tolerance float64) {
	t.Helper()
	way, worst := 0.0, 0.0
	for i, want := range s.X {
		way = max(way, math.Abs(want-start[i]))
	}
	for i, want := range s.X {
		diff := math.Abs(got[i] - want)
		if r.doubts[i] && diff <= r.jump(way) {
			s.X[i] = got[i]
			continue
		}
		worst = max(worst, diff/way)
		parameter := max(math.Abs(want-r.origin[i]), math.Abs(start[i]-r.origin[i]))
		if !(diff <= tolerance*way+ulps*r.gain()*parameter) {
			t.Fatalf("after record %d parameter %d is %v, the reference has %v; it began at "+
				"%v, the longest way of any was %v\nplan: %+v",
				n, i, got[i], want, start[i], way, r.plan)
		}
	}
	t.Logf("record %d: %.2g of %.2g, at most %v", n, worst, way, tolerance)
}

// doubt records the elements whose next value depends on a sign that rounding may change: the
// sign of the move, or for Yogi the sign of the difference between the second moment and the
// square.
func (r *run) doubt(s *State, second []float64, tolerance float64) {
	rule := r.plan.ServerRule
	if rule == plan.ServerSign {
		clear(r.doubts) // doubts are not kept from round to round
	}
	longest := 0.0
	for _, d := range s.Delta {
		longest = max(longest, math.Abs(d))
	}
	for i, d := range s.Delta {
		off := ulps*math.Abs(s.X[i]) + tolerance*longest
		switch {
		case rule == plan.ServerSign && math.Abs(d) <= off,
			rule == plan.ServerYogi && math.Abs(second[i]-d*d) <= 2*math.Abs(d)*off:
			r.doubts[i] = true
		}
	}
}

// jump returns the largest error of an element in doubt: twice the step of the sign rule, or the
// effect of a fraction of the second moment.
func (r *run) jump(way float64) float64 {
	if r.plan.ServerRule == plan.ServerSign {
		return 2.001 * float64(r.plan.ServerStep)
	}
	return way / 10
}
