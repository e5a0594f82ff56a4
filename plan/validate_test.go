package plan_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
)

// testPlan returns a plan that can run.
func testPlan(t testing.TB) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound("decomfl", "mnist", 100)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey = slices.Repeat(plan.Bytes{7}, 32)
	return p
}

// planOf returns the plan of a preset, for run mnist over 100 parameters.
func planOf(t testing.TB, name string) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound(name, "mnist", 100)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var nan = float32(math.NaN())

// invalid has rows with one fault each, in a plan that could run without the fault.
var invalid = []struct {
	field string
	spoil func(*plan.Plan)
}{
	{"run", func(p *plan.Plan) { p.Run = "" }},
	{"run", func(p *plan.Plan) { p.Run = "two.tokens" }},
	{"run", func(p *plan.Plan) { p.Run = strings.Repeat("x", plan.MaxName+1) }},
	{"preset", func(p *plan.Plan) { p.Preset = "a b" }},
	{"scheme", func(p *plan.Plan) { p.Scheme = 0 }},
	{"scheme", func(p *plan.Plan) { p.Scheme = 2 }},
	{"run_key", func(p *plan.Plan) { p.RunKey = p.RunKey[:31] }},
	{"dim", func(p *plan.Plan) { p.Dim = 0 }},
	{"dim", func(p *plan.Plan) { p.Dim = plan.MaxDim + 1 }},
	{"segments", func(p *plan.Plan) { p.Segments = make([]plan.Segment, plan.MaxSegments+1) }},
	{"segments", func(p *plan.Plan) { p.Segments = []plan.Segment{{Name: "", Len: 100}} }},
	{"segments", func(p *plan.Plan) {
		p.Segments = []plan.Segment{{Name: "a", Len: 50}, {Name: "a", Len: 50}}
	}},
	{"segments", func(p *plan.Plan) { p.Segments = []plan.Segment{{Name: "a", Len: 99}} }},
	{"segments.a.len", segment(func(s *plan.Segment) { s.Len = 0 })},
	{"segments.a.len", segment(func(s *plan.Segment) { s.Len = plan.MaxDim + 1 })},
	{"segments.a.fill", segment(func(s *plan.Segment) { s.Fill = 9 })},
	{"segments.a.fill", func(p *plan.Plan) {
		segment(func(s *plan.Segment) {})(p)
		p.Initial, p.InitialDigest = plan.Given, make(plan.Bytes, 32)
	}},
	{"segments.a.scale", segment(func(s *plan.Segment) { s.Scale = 0 })},
	{"segments.a.scale", segment(func(s *plan.Segment) { s.Scale = nan })},
	{"segments.a.scale", segment(func(s *plan.Segment) { s.Fill = plan.ZeroFill })},
	{"segments.a.mu_scale", segment(func(s *plan.Segment) { s.MuScale = -1 })},
	{"segments.a.mu_scale", segment(func(s *plan.Segment) { s.MuScale = nan })},
	{"segments.a.step_scale", segment(func(s *plan.Segment) { s.StepScale = 1e9 })},
	{"segments.a.rows", segment(func(s *plan.Segment) { s.Rows = 1 })},
	{"segments.a.rows", segment(func(s *plan.Segment) { s.Rows = s.Len })},
	{"segments.a.rows", segment(func(s *plan.Segment) { s.Rows = s.Len - 1 })},
	{"segments.a.step_scale", segment(func(s *plan.Segment) { s.StepScale = nan })},
	{"initial", func(p *plan.Plan) { p.Initial = 9 }},
	{"initial_digest", func(p *plan.Plan) { p.Initial = plan.Given }},
	{"initial_digest", func(p *plan.Plan) { p.InitialDigest = make(plan.Bytes, 32) }},
	{"sharing", func(p *plan.Plan) { p.Sharing = 2 }},
	{"distribution", func(p *plan.Plan) { p.Distribution = 0 }},
	{"difference", func(p *plan.Plan) { p.Difference = 0 }},
	{"mu", func(p *plan.Plan) { p.Mu = 0 }},
	{"mu", func(p *plan.Plan) { p.Mu = -1e-3 }},
	{"mu", func(p *plan.Plan) { p.Mu = nan }},
	{"steps", func(p *plan.Plan) { p.Steps = 0 }},
	{"steps", func(p *plan.Plan) { p.Steps = 65536 }},
	{"perturbations", func(p *plan.Plan) { p.Perturbations = 0 }},
	{"perturbations", func(p *plan.Plan) { p.Steps, p.Perturbations = 1000, 15 }}, // 15000 scalars
	{"perturbations", func(p *plan.Plan) {
		p.Steps, p.PerturbationSchedule = 1000,
			[]plan.PerturbationPoint{{Round: 5, Perturbations: 15}}
	}},
	{"rule", func(p *plan.Plan) { p.Rule = 0 }},
	{"rule", func(p *plan.Plan) { p.Rule = 99 }},
	{"beta", func(p *plan.Plan) { p.Beta = 0.9 }}, // rule is sgd
	{"beta", func(p *plan.Plan) { p.Rule = plan.Momentum }},
	{"beta", func(p *plan.Plan) { p.Rule, p.Beta = plan.TorchMomentum, 1 }},
	{"beta", func(p *plan.Plan) { p.Beta = -0.1 }},
	{"weight_decay", func(p *plan.Plan) { p.WeightDecay = -1 }},
	{"weight_decay", func(p *plan.Plan) { p.WeightDecay = float32(math.Inf(1)) }},
	{"step", func(p *plan.Plan) { p.StepSize = 0 }},
	{"step", func(p *plan.Plan) { p.StepSize = nan }},
	{"step_decay", func(p *plan.Plan) { p.StepDecay = 9 }},
	{"step_decay", func(p *plan.Plan) { p.StepDecay = 3 }},
	{"perturbation_schedule",
		func(p *plan.Plan) {
			p.PerturbationSchedule = make([]plan.PerturbationPoint, plan.MaxPoints+1)
		}},
	{"perturbation_schedule",
		func(p *plan.Plan) { p.PerturbationSchedule = []plan.PerturbationPoint{{5, 0}} }},
	{"perturbation_schedule",
		func(p *plan.Plan) { p.PerturbationSchedule = []plan.PerturbationPoint{{6, 1}, {5, 1}} }},
	{"perturbation_schedule",
		func(p *plan.Plan) {
			p.PerturbationSchedule = []plan.PerturbationPoint{{math.MaxUint64, 1}}
		}},
	{"transport", func(p *plan.Plan) { p.Transport = 3 }},
	{"dense_keep", func(p *plan.Plan) { p.Transport = plan.DenseVectors }},
	{"boxes", dense(func(p *plan.Plan) { p.Boxes = []plan.Box{{Low: 1, High: 0}} })},
	{"boxes", dense(func(p *plan.Plan) { p.Boxes = []plan.Box{{Low: nan, High: 0}} })},
	{"boxes", dense(
		func(p *plan.Plan) { p.Boxes = []plan.Box{{Low: 0, High: float32(math.Inf(1))}} })},
	{"boxes", dense(func(p *plan.Plan) { p.Boxes = make([]plan.Box, 2) })}, // of no segments
	{"columns", func(p *plan.Plan) { p.Columns = plan.MaxColumns + 1 }},
	{"stats", func(p *plan.Plan) { p.Stats = []plan.Column{{Std: math.NaN()}} }},
	{"stats", func(p *plan.Plan) { p.Stats = []plan.Column{{Mean: math.Inf(1)}} }},
	{"stats", func(p *plan.Plan) { p.Stats = make([]plan.Column, plan.MaxColumns+1) }},
	{"beta2", dense(func(p *plan.Plan) { p.Beta2 = nan })},
	{"epsilon", dense(func(p *plan.Plan) { p.Epsilon = -1 })},
	{"estimator", dense(func(p *plan.Plan) { p.Estimator = 2 })},
	{"features", dense(func(p *plan.Plan) { p.Features = plan.MaxFeatures + 1 })},
	{"length_scale", dense(func(p *plan.Plan) { p.LengthScale = nan })},
	{"noise", dense(func(p *plan.Plan) { p.Noise = -1 })},
	{"window", dense(func(p *plan.Plan) { p.Window = plan.MaxWindow + 1 })},
	{"prior", dense(func(p *plan.Plan) { p.Prior = 2 })},
	{"length_fit", dense(func(p *plan.Plan) { p.LengthFit = 2 })},
	{"active", dense(func(p *plan.Plan) { p.Active = 4097 })},
	{"around", dense(func(p *plan.Plan) { p.Around = 4097 })},
	{"candidates", dense(func(p *plan.Plan) { p.Candidates = 1<<16 + 1 })},
	{"radius", dense(func(p *plan.Plan) { p.Radius = nan })},
	{"correction", dense(func(p *plan.Plan) { p.Correction = 4 })},
	{"correction_at", dense(func(p *plan.Plan) { p.CorrectionAt = 2 })},
	{"heterogeneity", dense(func(p *plan.Plan) { p.Heterogeneity = nan })},
	{"aggregator", func(p *plan.Plan) { p.Aggregator = 4 }},
	{"control", func(p *plan.Plan) { p.Control = 3 }},
	{"server_rule", func(p *plan.Plan) { p.ServerRule = 7 }},
	{"precision", func(p *plan.Plan) { p.Precision = 2 }},
	{"precision", func(p *plan.Plan) { p.Precision = 6 }},
	{"key_check", func(p *plan.Plan) { p.KeyCheck = make(plan.Bytes, 32) }}, // run_key is public
	{"key_check", func(p *plan.Plan) { p.RunKey, p.KeyCheck = nil, make(plan.Bytes, 31) }},
	{"key_scheme", func(p *plan.Plan) { p.KeyScheme = 1 }}, // run_key is public
	{"run_key", func(p *plan.Plan) { p.RunKey = nil }},
	{"subspace_moves", func(p *plan.Plan) { p.SubspaceMoves = plan.MaxSubspace + 1 }},
	{"subspace_share", func(p *plan.Plan) { p.SubspaceShare = nan }},
	{"pool", func(p *plan.Plan) { p.Pool = plan.MaxPool + 1 }},
	{"prox", func(p *plan.Plan) { p.Prox = -1 }},
	{"server_step", func(p *plan.Plan) { p.ServerStep = -1 }},
	{"server_beta1", func(p *plan.Plan) { p.ServerBeta1 = nan }},
	{"server_beta2", func(p *plan.Plan) { p.ServerBeta2 = 2 }},
	{"server_epsilon", func(p *plan.Plan) { p.ServerEpsilon = nan }},
	{"server_v0", func(p *plan.Plan) { p.ServerV0 = -1 }},
	{"server_rule", func(p *plan.Plan) { p.ServerRule = 9 }},
	{"covariance", func(p *plan.Plan) { p.Covariance = 2 }},
	{"perturbations_auto", func(p *plan.Plan) { p.PerturbationsAuto = 2 }},
	{"restarts", func(p *plan.Plan) { p.Restarts = 11 }},
	{"server_decay", func(p *plan.Plan) { p.ServerRule, p.ServerDecay = plan.ServerNormalized, -1 }},
	{"step_decay", func(p *plan.Plan) { p.StepDecay = 5 }},
	{"floor", func(p *plan.Plan) { p.StepDecay, p.Rounds, p.Floor = plan.Cosine, 1, 1.5 }},
	{"trim", func(p *plan.Plan) { p.Trim = 0.6 }},
	{"clip", func(p *plan.Plan) { p.Clip = float32(math.Inf(1)) }},
	{"perturbations",
		func(p *plan.Plan) {
			p.Control, p.Perturbations = plan.ScaffoldPoint, plan.MaxScalars/2+1
		}},
	{"target", func(p *plan.Plan) { p.Control, p.Target = plan.ScaffoldMean, 2000 }},
	{"late", func(p *plan.Plan) { p.Late = plan.MaxLate + 1 }},
	{"late", func(p *plan.Plan) { p.Late, p.Perturbations = 15, 1000 }},
	{"async", func(p *plan.Plan) { p.Async = 2 }},
	{"mu_auto", func(p *plan.Plan) { p.MuAuto = 2 }},
	{"step_auto", func(p *plan.Plan) { p.StepAuto = 2 }},
	{"step_after", func(p *plan.Plan) { p.StepAfter = 1001 }},
	{"groups", func(p *plan.Plan) { p.Groups = 200 }},
	{"groups", func(p *plan.Plan) { p.Groups = grouping.Random }},
	{"group_size", func(p *plan.Plan) { p.GroupSize = plan.MaxMembers + 1 }},
	{"regroup", func(p *plan.Plan) { p.Regroup = 1 }},
	{"bound", func(p *plan.Plan) { p.Bound = nan }},
	{"claim_bound", func(p *plan.Plan) { p.ClaimBound = -1 }},
	{"trust", func(p *plan.Plan) { p.Bound, p.Trust = 3, 1001 }},
	{"classes", func(p *plan.Plan) { p.Classes = 65 }},
	{"roots", func(p *plan.Plan) { rooted(p, slices.Repeat([]string{"a"}, plan.MaxMetrics+1)...) }},
	{"roots", func(p *plan.Plan) { rooted(p, "pi-1", "pi-1") }},
	{"roots", func(p *plan.Plan) { rooted(p, "pi 1") }},
	{"liars", func(p *plan.Plan) { p.Liars = 501 }},
	{"cohort", func(p *plan.Plan) { p.Control, p.Cohort = plan.ScaffoldPoint, 2 }},
	{"loss_unit", func(p *plan.Plan) { p.LossUnit = -1 }},
	{"dp_clip", func(p *plan.Plan) { p.DPClip = nan }},
	{"dp_noise", func(p *plan.Plan) { p.DPClip, p.DPNoise = 1, 1001 }},
	{"dp_by", func(p *plan.Plan) { p.DPClip, p.DPBy = 1, 2 }},
	{"dp_of", func(p *plan.Plan) { p.DPClip, p.Secure, p.DPOf = 1, 1, 2 }},
	{"dp_delta", func(p *plan.Plan) { p.DPClip, p.DPDelta = 1, -1 }},
	{"secure", func(p *plan.Plan) { p.Secure = 2 }},
	{"secure_range", func(p *plan.Plan) { p.Secure, p.SecureRange = 1, nan }},
	{"secure_lists", func(p *plan.Plan) { p.Secure, p.SecureLists = 1, 2 }},
	{"weights", func(p *plan.Plan) { p.Weights = 2 }},
	{"max_weight", func(p *plan.Plan) { p.MaxWeight = 0 }},
	{"max_weight", func(p *plan.Plan) { p.MaxWeight = plan.MaxWeight + 1 }},
	{"max_scalar", func(p *plan.Plan) { p.MaxScalar = 0 }},
	{"roster", func(p *plan.Plan) { p.Roster = 2 }},
	{"members", func(p *plan.Plan) { p.Members = 0 }},
	{"members", func(p *plan.Plan) { p.Members = 4 }}, // quorum is 5
	{"members", func(p *plan.Plan) { p.Members = plan.MaxMembers + 1 }},
	{"target", func(p *plan.Plan) { p.Target = 0 }},
	{"over_sample", func(p *plan.Plan) { p.OverSample = 0.9 }},
	{"over_sample", func(p *plan.Plan) { p.OverSample = nan }},
	{"quorum", func(p *plan.Plan) { p.Quorum = 0 }},
	{"quorum", func(p *plan.Plan) { p.Quorum = 11 }}, // target is 10
	{"deadline", func(p *plan.Plan) { p.Deadline = 0 }},
	{"max_attempts", func(p *plan.Plan) { p.MaxAttempts = 0 }},
	{"reannounce", func(p *plan.Plan) { p.Reannounce = 0 }},
	{"announce_budget", func(p *plan.Plan) { p.AnnounceBudget = 1 << 20 }},
	{"shards", func(p *plan.Plan) { p.Shards = 0 }},
	{"shards", func(p *plan.Plan) { p.Shards = 1297 }},
	{"eval_count", func(p *plan.Plan) { p.EvalEvery, p.Metrics = 10, []string{"loss"} }},
	{"eval_count", func(p *plan.Plan) { p.EvalCount = plan.MaxMembers + 1 }},
	{"metrics", func(p *plan.Plan) { p.EvalEvery, p.EvalCount = 10, 3 }},
	{"metrics", func(p *plan.Plan) { p.Metrics = slices.Repeat([]string{"m"}, plan.MaxMetrics+1) }},
	{"metrics", func(p *plan.Plan) { p.Metrics = []string{"loss", "loss"} }},
	{"metrics", func(p *plan.Plan) { p.Metrics = []string{"top 5"} }},
	{"rounds", func(p *plan.Plan) { p.Rounds = 1<<53 + 1<<10 }},
	{"stop_metric", func(p *plan.Plan) { p.StopMetric = "accuracy" }},
	{"eval_every", func(p *plan.Plan) { p.Metrics, p.StopMetric = []string{"loss"}, "loss" }},
	{"stop_when", func(p *plan.Plan) { p.StopWhen = 2 }},
	{"stop_value", func(p *plan.Plan) { p.StopValue = nan }},
	{"diverge", func(p *plan.Plan) { p.Diverge = -1 }},
	{"best", func(p *plan.Plan) { p.Best = "accuracy" }},
	{"eval_every", func(p *plan.Plan) { p.Metrics, p.Best = []string{"f1"}, "f1" }},
	{"best_when", func(p *plan.Plan) { p.Best, p.BestWhen = plan.TrainingLoss, 3 }},
	{"best", func(p *plan.Plan) { p.BestWhen = plan.Lowest }},
	{"close", func(p *plan.Plan) { p.Close = 2 }},
	{"min_delta", func(p *plan.Plan) { p.Best, p.MinDelta = plan.TrainingLoss, nan }},
	{"best", func(p *plan.Plan) { p.MinDelta = 0.1 }},
	{"best", func(p *plan.Plan) { p.Patience = 3 }},
	{"patience", func(p *plan.Plan) { p.Best, p.Patience = plan.TrainingLoss, 1_000_001 }},
}

// segment gives the plan a single segment, changed.
func segment(change func(*plan.Segment)) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Segments = []plan.Segment{{Name: "a", Len: p.Dim, Fill: plan.NormalFill, Scale: 0.1}}
		change(&p.Segments[0])
	}
}

// dense gives the plan transport=dense, and changes it.
func dense(change func(*plan.Plan)) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Transport, p.DenseKeep = plan.DenseVectors, 2
		change(p)
	}
}

// rooted sets the roots of a plan, and the fields that roots need.
func rooted(p *plan.Plan, ids ...string) { p.Bound, p.Trust, p.Roots = 3, 10, ids }

func TestValidateNamesTheFault(t *testing.T) {
	tested := map[string]bool{}
	for i, test := range invalid {
		p := testPlan(t)
		if err := valid.Plan(p); err != nil {
			t.Fatal(err)
		}
		test.spoil(p)
		err := valid.Plan(p)
		var fault *plan.Error
		if !errors.As(err, &fault) {
			t.Errorf("row %d, %s: got %v, want a *PlanError", i, test.field, err)
			continue
		}
		if fault.Field != test.field || fault.Value == nil || len(fault.Remedy) < 10 ||
			!strings.Contains(err.Error(), test.field+" = ") {
			t.Errorf("row %d, %s: got field %q, value %v, remedy %q", i, test.field, fault.Field,
				fault.Value, fault.Remedy)
		}
		tested[test.field] = true
	}
	// The fields in free may have any value.
	free := []string{"batch", "digest_every", "rebase"} // refused has rebase
	for _, f := range plan.Fields() {
		if !tested[f.Name] && !slices.Contains(free, f.Name) {
			t.Errorf("no row breaks %s", f.Name)
		}
	}
}

// TestValidAtTheEdge: values at their limits are allowed.
func TestValidAtTheEdge(t *testing.T) {
	edges := map[string]func(*plan.Plan){
		"segment": segment(
			func(s *plan.Segment) { s.MuScale, s.StepScale, s.Scale = 1e-6, 1e6, 1e6 }),
		"rows":       segment(func(s *plan.Segment) { s.Rows = 2 }),
		"columns":    segment(func(s *plan.Segment) { s.Rows = s.Len / 2 }),
		"mu least":   func(p *plan.Plan) { p.Mu = 1e-18 },
		"mu most":    func(p *plan.Plan) { p.Mu = 1e18 },
		"step least": func(p *plan.Plan) { p.StepSize = 1e-18 },
		"scalars":    func(p *plan.Plan) { p.Steps, p.Perturbations = 1024, 14 },
		"rounds":     func(p *plan.Plan) { p.Rounds = 1 << 53 },
		"dim":        func(p *plan.Plan) { p.Dim = plan.MaxDim },
		"all":        func(p *plan.Plan) { p.Batch, p.DigestEvery = 0, 0 },
		"largest": func(p *plan.Plan) {
			p.Batch, p.DigestEvery = math.MaxUint32, math.MaxUint32
		},
		"stop value": func(p *plan.Plan) { p.StopValue = -math.MaxFloat32 },
	}
	for name, change := range edges {
		p := testPlan(t)
		change(p)
		if err := valid.Plan(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStepSizesStayFinite: in no plan that can run does the step size become 0 or infinite. A
// replica would refuse such a step size.
func TestStepSizesStayFinite(t *testing.T) {
	for _, step := range []float32{1e-18, 1e18} {
		for _, factor := range []float32{1e-6, 1e6} {
			p := testPlan(t)
			p.StepSize, p.StepDecay = step, plan.InverseSqrt
			if err := valid.Plan(p); err != nil {
				t.Fatal(err)
			}
			for _, round := range []uint64{1, 2, 1 << 53} {
				if eta := p.StepSizeAt(round); !(eta > 0) || math.IsInf(float64(eta*factor), 0) {
					t.Errorf("step %v, factor %v, round %d: %v", step, factor, round, eta)
				}
			}
			p.Rounds = 1
			for _, p.StepDecay = range []plan.StepDecay{plan.InverseSqrt, plan.Cosine,
				plan.SlowSqrt} {
				for _, round := range []uint64{1, 2, 1 << 53} {
					if eta := p.StepSizeAt(round); !(eta*factor > 0) {
						t.Errorf("step %v, factor %v, %v, round %d: %v", step, factor, p.StepDecay,
							round, eta)
					}
				}
			}
		}
	}
}
