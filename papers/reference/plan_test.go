package reference

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
)

const (
	clients = 6
	// blocks is a number of parameters whose directions take two blocks, of which the second is
	// partial.
	blocks = 4096 + 111
)

// presetPlan returns the plan of a preset, at a size that a test can run.
func presetPlan(t *testing.T, name string, random *rand.Rand) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound(name, fmt.Sprintf("r%d", random.Uint32()), 1+random.Uint64N(100))
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.RunKey {
		p.RunKey[i] = byte(random.Uint32())
	}
	p.Steps = min(p.Steps, 2+random.Uint32N(3))
	p.Perturbations = min(p.Perturbations, 2+random.Uint32N(4))
	p.Rounds, p.Diverge, p.DigestEvery = 8, 0, 1
	p.Members = clients
	p.Target = 1 + random.Uint32N(clients)
	if name == "mezo" {
		p.Target, p.Rounds = 1, 20
	}
	if p.SubspaceMoves > 0 {
		p.SubspaceMoves = 2 + random.Uint32N(2)
	}
	p.Quorum = p.Target
	if p.Transport == plan.DenseVectors {
		p.DenseKeep = 1000 // keep all, to be checked afterwards
	}
	if p.Estimator == plan.Surrogate {
		shrink(p)
	}
	size(p)
	return p
}

// shrink makes a surrogate small enough to refit at every step, with a window that drops
// points.
func shrink(p *plan.Plan) {
	p.Features, p.Window, p.Candidates, p.Active, p.Around, p.Radius = 48, 25, 30, 3, 4, 0.05
}

// size sets mu and eta to values that suit the bowl of these tests, for the dimension of p.
func size(p *plan.Plan) {
	p.Mu, p.StepSize = 1e-2, float32(1/float64(p.Dim+1))
	p.MuAuto, p.StepAuto = 0, 0 // the reference has steps, not how a run finds them
	// The reference also lacks the rule by which a run decides whether devices share directions. The
	// tests of packages gather and grouping compare groups with float64.
	if p.Groups == grouping.Auto {
		p.Sharing = plan.PerClient
		preset.Fit(p)
	}
	if p.Difference == plan.NoDifference {
		p.Mu, p.StepSize, p.PerturbationsAuto = 0, 0.3, 0
		p.Perturbations = plan.Candidates(p.Dim)
	}
	if p.Distribution == plan.Sphere {
		p.Mu *= float32(math.Sqrt(float64(p.Dim)))
	}
	if p.Rule == plan.LocalAdam {
		p.StepSize = 0.02
		if p.Preset == "" { // otherwise the sign of a rounding error would count
			p.Epsilon = 0.05 * float32(math.Sqrt(float64(p.Dim)))
		}
	}
	if p.Rule == plan.TorchMomentum {
		p.StepSize *= 1 - p.Beta
	}
	if p.Control != plan.NoControl {
		p.StepSize /= 2
	}
	if p.Clip > 0 { // slopes are about 0.2 at the start
		scalars := float64(p.Steps * p.Perturbations)
		if p.Distribution != plan.Sphere {
			scalars *= float64(p.Dim)
		}
		p.Clip *= float32(0.2 * math.Sqrt(scalars))
	}
}

// combination returns a random valid plan, with combinations of fields that no preset has.
func combination(t *testing.T, random *rand.Rand) *plan.Plan {
	t.Helper()
	for range 10000 {
		p := presetPlan(t, "decomfl", random)
		p.Preset = ""
		draw(p, random)
		size(p)
		if valid.Plan(p) == nil {
			return p
		}
	}
	t.Fatal("no random combination is valid")
	return nil
}

// normalizedPlan returns a random valid plan of the rule normalized.
func normalizedPlan(t *testing.T, random *rand.Rand) *plan.Plan {
	t.Helper()
	for range 10000 {
		p := combination(t, random)
		p.Steps, p.Rule, p.Beta, p.WeightDecay, p.Prox = 1, plan.SGD, 0, 0, 0
		p.ServerRule, p.ServerStep, p.ServerEpsilon, p.ServerV0 = plan.ServerNormalized, 0, 0, 0
		p.ServerBeta1, p.ServerBeta2 = 0.9*random.Float32(), 0.99*random.Float32()
		p.ServerDecay, p.StepSize = 2*random.Float32(), 0.02
		drawSchedule(p, random)
		if valid.Plan(p) == nil {
			return p
		}
	}
	t.Fatal("no random plan is valid")
	return nil
}

// evolutionPlan returns a random valid plan of an evolution strategy.
func evolutionPlan(t *testing.T, random *rand.Rand) *plan.Plan {
	t.Helper()
	for range 10000 {
		p := presetPlan(t, "cma", random)
		p.Covariance = plan.Covariance(random.UintN(2))
		p.Perturbations += random.Uint32N(8)
		p.Aggregator = plan.Aggregator(random.UintN(4))
		p.Weights = plan.Weights(random.UintN(2))
		switch p.Aggregator {
		case plan.TrimmedMean:
			p.Trim = 0.35
		case plan.ClippedMean:
			p.Clip = 0.01 + random.Float32()
		}
		if p.Dim > 2 && random.UintN(2) == 0 {
			p.Segments = []plan.Segment{{Name: "a", Len: p.Dim / 2, StepScale: 0.5},
				{Name: "b", Len: p.Dim - p.Dim/2}}
		}
		if valid.Plan(p) == nil {
			return p
		}
	}
	t.Fatal("no random plan is valid")
	return nil
}

// svrgPlan returns a random valid plan of ZO-SVRG.
func svrgPlan(t *testing.T, random *rand.Rand, dense bool) *plan.Plan {
	t.Helper()
	for range 10000 {
		p := combination(t, random)
		if p.Sharing, p.Transport = plan.SharedDirections, plan.Mean; dense {
			if p = denseCombination(t, random); p.Estimator == plan.Surrogate {
				continue
			}
		}
		p.Control, p.Cohort, p.Batch, p.OverSample = plan.SVRG, uint8(random.UintN(2)), 2, 1
		p.Aggregator, p.Trim, p.Clip = plan.WeightedMean, 0, 0
		p.Steps += 1 // two at the least
		size(p)
		if valid.Plan(p) == nil {
			return p
		}
	}
	t.Fatal("no random plan is valid")
	return nil
}

// bitsPlan draws a plan of relayed scalars of a precision.
func bitsPlan(t *testing.T, random *rand.Rand, precision plan.Precision) *plan.Plan {
	t.Helper()
	for range 10000 {
		p := combination(t, random)
		p.Sharing, p.Transport, p.Late = plan.PerClient, plan.Relay, 0
		p.Precision, p.MaxScalar = precision, 6e4
		if valid.Plan(p) == nil {
			return p
		}
	}
	t.Fatal("no random plan is valid")
	return nil
}

// drawSchedule draws how the step size changes during the run.
func drawSchedule(p *plan.Plan, random *rand.Rand) {
	p.StepDecay = []plan.StepDecay{plan.Constant, plan.InverseSqrt, plan.Cosine,
		plan.SlowSqrt}[random.UintN(4)]
	if p.StepDecay == plan.Cosine {
		p.Floor = 0.1 + 0.9*random.Float32()
	}
}

// draw sets each field at random, independently of the other fields.
func draw(p *plan.Plan, random *rand.Rand) {
	one := func(n uint) bool { return random.UintN(n) == 0 }
	p.Dim = 1 + random.Uint64N(100)
	switch random.UintN(8) {
	case 0:
		p.Dim, p.Rounds = blocks, 5
	case 1, 2: // shorter than a subspace's moves, and with steps large enough to matter
		p.Dim = 1 + random.Uint64N(4)
	}
	p.Steps, p.Perturbations = 1+random.Uint32N(4), 1+random.Uint32N(10)
	drawEstimator(p, random, one)
	drawUpdate(p, random, one)
	drawServer(p, random, one)
	drawAggregation(p, random, one)
	theme(p, random)
	if p.Target < clients && (p.Transport == plan.Relay || p.Control == plan.ScaffoldMean) && one(2) {
		p.OverSample = 1.5 // the record says who was in time
	}
	if one(3) {
		drawSegments(p, random)
	}
	if one(5) {
		p.KeyCheck, p.RunKey = plan.KeyCheck(secret), nil
	}
}

// secret is the run key of private runs.
var secret = []byte("a secret that only devices know!")

func drawEstimator(p *plan.Plan, random *rand.Rand, one func(uint) bool) {
	p.Distribution = plan.Distribution(1 + random.UintN(4))
	p.Difference = plan.Difference(1 + random.UintN(2))
	if p.Distribution == plan.Subspace {
		p.SubspaceMoves, p.SubspaceShare = 1+random.Uint32N(4), 0.1+0.8*random.Float32()
	}
	if one(2) {
		p.Sharing, p.Transport = plan.PerClient, plan.Relay
	}
}

func drawUpdate(p *plan.Plan, random *rand.Rand, one func(uint) bool) {
	switch p.Rule = plan.Rule(1 + random.UintN(3)); p.Rule {
	case plan.Momentum, plan.TorchMomentum:
		p.Beta = 0.3 + 0.6*random.Float32()
	}
	if one(2) {
		p.WeightDecay = 0.1
	}
	if one(3) {
		p.Prox = random.Float32()
	}
	p.StepDecay = plan.StepDecay(random.UintN(2))
	if one(4) {
		p.PerturbationSchedule = []plan.PerturbationPoint{
			{Round: 2, Perturbations: 1 + random.Uint32N(6)}, {Round: 5, Perturbations: 3}}
	}
}

func drawServer(p *plan.Plan, random *rand.Rand, one func(uint) bool) {
	if one(2) {
		return
	}
	p.ServerRule = plan.ServerRule(1 + random.UintN(6))
	switch p.ServerRule {
	case plan.ServerSGD:
		p.ServerStep = 0.5 + random.Float32()
	case plan.ServerMomentum:
		p.ServerStep, p.ServerBeta1 = 0.5, 0.5
	case plan.ServerSign:
		p.ServerStep = 0.002
	default:
		p.ServerStep, p.ServerBeta1, p.ServerBeta2 = 0.02, 0.9*random.Float32(), 0.9+0.09*random.Float32()
		p.ServerEpsilon, p.ServerV0 = 1e-5, float32(random.UintN(2))*1e-5
	}
}

func drawAggregation(p *plan.Plan, random *rand.Rand, one func(uint) bool) {
	if one(3) {
		p.Precision, p.MaxScalar = plan.Half, 6e4
	}
	if one(2) {
		p.Weights = plan.BySamples
		p.MaxWeight = []uint32{plan.MaxWeight, 5}[random.UintN(2)]
	}
	if one(2) {
		return
	}
	switch p.Aggregator = plan.Aggregator(1 + random.UintN(3)); p.Aggregator {
	case plan.TrimmedMean:
		p.Trim = []float32{0.2, 0.35, 0.45}[random.UintN(3)]
	case plan.ClippedMean:
		p.Clip = 0.5 + random.Float32() // of the length of scalars at the start: see size
	}
}

// theme sets groups of fields that are valid only together, because random draws would nearly
// always give invalid plans.
func theme(p *plan.Plan, random *rand.Rand) {
	shared := func() { p.Sharing, p.Transport = plan.SharedDirections, plan.Mean }
	switch random.UintN(6) {
	case 0:
		shared()
		p.Pool, p.Rebase = 2+random.Uint32N(40), 1+random.Uint32N(5)
		p.ServerRule, p.ServerStep, p.ServerBeta1, p.ServerBeta2, p.ServerEpsilon, p.ServerV0 = 0,
			0, 0, 0, 0, 0
	case 1:
		shared()
		p.Control, p.Aggregator, p.Trim, p.Clip = plan.ScaffoldPoint, plan.WeightedMean, 0, 0
		p.Cohort = uint8(p.Dim % 2)
	case 2:
		shared()
		p.Control, p.Aggregator, p.Trim, p.Clip = plan.ScaffoldMean, plan.WeightedMean, 0, 0
		p.Weights = plan.Equal
	case 3:
		shared()
		p.Weights, p.Target = plan.Equal, max(p.Target, 3)
		p.Quorum = p.Target
	}
}

// drawSegments divides the model into three different parts.
func drawSegments(p *plan.Plan, random *rand.Rand) {
	if p.Dim < 3 {
		return
	}
	first := 1 + random.Uint64N(p.Dim-2)
	second := 1 + random.Uint64N(p.Dim-first-1)
	p.Segments = []plan.Segment{
		{Name: "a", Len: first, Fill: plan.NormalFill, Scale: 0.5, MuScale: 2},
		{Name: "b", Len: second, Fill: plan.UniformFill, Scale: 1},
		{Name: "c", Len: p.Dim - first - second, StepScale: 0.5},
	}
	if random.UintN(2) == 0 {
		p.Segments[2].StepScale = 0
	}
}

// TestCombinationsHaveEverything checks that the random plans contain every choice of every
// field, so that the tests compare every choice.
func TestCombinationsHaveEverything(t *testing.T) {
	seen := map[string]int{}
	for seed := range *combinations {
		p := combination(t, rand.New(rand.NewPCG(seed, 3)))
		for _, v := range []any{p.Sharing, p.Distribution, p.Difference, p.Rule, p.StepDecay, p.Control,
			p.ServerRule, p.Transport, p.Precision, p.Aggregator, p.Weights} {
			seen[fmt.Sprintf("%T %v", v, v)]++
		}
		for name, has := range map[string]bool{"pool": p.Pool > 0, "private": p.Private(),
			"segments": len(p.Segments) > 0,
			"prox":     p.Prox > 0, "decay": p.WeightDecay > 0, "blocks": p.Dim == blocks,
			"schedule of P": len(p.PerturbationSchedule) > 0,
			"one cohort":    p.Cohort > 0 && p.Target < clients,
			"partial":       p.Target < clients, "pool with momentum": p.Pool > 0 &&
				p.Beta > 0, "pool of spheres": p.Pool > 0 && p.Distribution == plan.Sphere} {
			if has {
				seen[name]++
			}
		}
	}
	t.Log(seen)
	for kind, choices := range map[string]int{"Sharing": 2, "Distribution": 4, "Difference": 2,
		"Rule": 3, "StepDecay": 2,
		"Control": 3, "ServerRule": 7, "Transport": 2, "Precision": 2, "Aggregator": 4, "Weights": 2} {
		n := 0
		for name := range seen {
			if strings.HasPrefix(name, "plan."+kind+" ") {
				n++
			}
		}
		if n != choices {
			t.Errorf("%d choices of %s, want %d", n, kind, choices)
		}
	}
	for _, name := range []string{"pool", "private", "segments", "prox", "decay", "blocks",
		"schedule of P", "partial", "one cohort",
		"pool with momentum", "pool of spheres"} {
		if seen[name] == 0 {
			t.Errorf("no plan has %s", name)
		}
	}
}
