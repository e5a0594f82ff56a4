package wire_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/grouping"
	"github.com/zofl/zofl/wire/preset"
	"github.com/zofl/zofl/wire/valid"
)

// testPlan returns a plan that can run.
func testPlan(t testing.TB) *wire.Plan {
	t.Helper()
	p, err := preset.Unbound("decomfl", "mnist", 100)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey = slices.Repeat(wire.Bytes{7}, 32)
	return p
}

// planOf returns the plan of a preset, for run mnist over 100 parameters.
func planOf(t testing.TB, name string) *wire.Plan {
	t.Helper()
	p, err := preset.Unbound(name, "mnist", 100)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestVectorPlansValidate(t *testing.T) {
	for _, name := range []string{"record-plan", "record-plan-full", "record-plan-relay",
		"record-plan-pool", "record-plan-control",
		"record-plan-dense", "record-plan-fzoos", "record-plan-late", "record-plan-late-async"} {
		r, err := wire.DecodeRecord(vector(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := valid.Plan(r.Plan); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var nan = float32(math.NaN())

// invalid has one fault a row, in a plan that could run otherwise.
var invalid = []struct {
	field string
	spoil func(*wire.Plan)
}{
	{"run", func(p *wire.Plan) { p.Run = "" }},
	{"run", func(p *wire.Plan) { p.Run = "two.tokens" }},
	{"run", func(p *wire.Plan) { p.Run = strings.Repeat("x", wire.MaxName+1) }},
	{"preset", func(p *wire.Plan) { p.Preset = "a b" }},
	{"scheme", func(p *wire.Plan) { p.Scheme = 0 }},
	{"scheme", func(p *wire.Plan) { p.Scheme = 2 }},
	{"run_key", func(p *wire.Plan) { p.RunKey = p.RunKey[:31] }},
	{"dim", func(p *wire.Plan) { p.Dim = 0 }},
	{"dim", func(p *wire.Plan) { p.Dim = wire.MaxDim + 1 }},
	{"segments", func(p *wire.Plan) { p.Segments = make([]wire.Segment, wire.MaxSegments+1) }},
	{"segments", func(p *wire.Plan) { p.Segments = []wire.Segment{{Name: "", Len: 100}} }},
	{"segments", func(p *wire.Plan) {
		p.Segments = []wire.Segment{{Name: "a", Len: 50}, {Name: "a", Len: 50}}
	}},
	{"segments", func(p *wire.Plan) { p.Segments = []wire.Segment{{Name: "a", Len: 99}} }},
	{"segments.a.len", segment(func(s *wire.Segment) { s.Len = 0 })},
	{"segments.a.len", segment(func(s *wire.Segment) { s.Len = wire.MaxDim + 1 })},
	{"segments.a.fill", segment(func(s *wire.Segment) { s.Fill = 9 })},
	{"segments.a.fill", func(p *wire.Plan) {
		segment(func(s *wire.Segment) {})(p)
		p.Initial, p.InitialDigest = wire.Given, make(wire.Bytes, 32)
	}},
	{"segments.a.scale", segment(func(s *wire.Segment) { s.Scale = 0 })},
	{"segments.a.scale", segment(func(s *wire.Segment) { s.Scale = nan })},
	{"segments.a.scale", segment(func(s *wire.Segment) { s.Fill = wire.ZeroFill })},
	{"segments.a.mu_scale", segment(func(s *wire.Segment) { s.MuScale = -1 })},
	{"segments.a.mu_scale", segment(func(s *wire.Segment) { s.MuScale = nan })},
	{"segments.a.step_scale", segment(func(s *wire.Segment) { s.StepScale = 1e9 })},
	{"segments.a.step_scale", segment(func(s *wire.Segment) { s.StepScale = nan })},
	{"initial", func(p *wire.Plan) { p.Initial = 9 }},
	{"initial_digest", func(p *wire.Plan) { p.Initial = wire.Given }},
	{"initial_digest", func(p *wire.Plan) { p.InitialDigest = make(wire.Bytes, 32) }},
	{"sharing", func(p *wire.Plan) { p.Sharing = 2 }},
	{"distribution", func(p *wire.Plan) { p.Distribution = 0 }},
	{"difference", func(p *wire.Plan) { p.Difference = 0 }},
	{"mu", func(p *wire.Plan) { p.Mu = 0 }},
	{"mu", func(p *wire.Plan) { p.Mu = -1e-3 }},
	{"mu", func(p *wire.Plan) { p.Mu = nan }},
	{"steps", func(p *wire.Plan) { p.Steps = 0 }},
	{"steps", func(p *wire.Plan) { p.Steps = 65536 }},
	{"perturbations", func(p *wire.Plan) { p.Perturbations = 0 }},
	{"perturbations", func(p *wire.Plan) { p.Steps, p.Perturbations = 1000, 15 }}, // 15000 scalars
	{"perturbations", func(p *wire.Plan) {
		p.Steps, p.PerturbationSchedule = 1000,
			[]wire.PerturbationPoint{{Round: 5, Perturbations: 15}}
	}},
	{"rule", func(p *wire.Plan) { p.Rule = 0 }},
	{"rule", func(p *wire.Plan) { p.Rule = 99 }},
	{"beta", func(p *wire.Plan) { p.Beta = 0.9 }}, // rule is sgd
	{"beta", func(p *wire.Plan) { p.Rule = wire.Momentum }},
	{"beta", func(p *wire.Plan) { p.Rule, p.Beta = wire.TorchMomentum, 1 }},
	{"beta", func(p *wire.Plan) { p.Beta = -0.1 }},
	{"weight_decay", func(p *wire.Plan) { p.WeightDecay = -1 }},
	{"weight_decay", func(p *wire.Plan) { p.WeightDecay = float32(math.Inf(1)) }},
	{"step", func(p *wire.Plan) { p.StepSize = 0 }},
	{"step", func(p *wire.Plan) { p.StepSize = nan }},
	{"step_decay", func(p *wire.Plan) { p.StepDecay = 9 }},
	{"step_schedule",
		func(p *wire.Plan) { p.StepSchedule = make([]wire.StepPoint, wire.MaxPoints+1) }},
	{"step_schedule", func(p *wire.Plan) { p.StepSchedule = []wire.StepPoint{{0, 1}} }},
	{"step_schedule", func(p *wire.Plan) { p.StepSchedule = []wire.StepPoint{{5, 1}, {5, 1}} }},
	{"step_schedule", func(p *wire.Plan) { p.StepSchedule = []wire.StepPoint{{5, nan}} }},
	{"step_schedule",
		func(p *wire.Plan) { p.StepSchedule = []wire.StepPoint{{math.MaxUint64, 1}} }},
	{"perturbation_schedule",
		func(p *wire.Plan) {
			p.PerturbationSchedule = make([]wire.PerturbationPoint, wire.MaxPoints+1)
		}},
	{"perturbation_schedule",
		func(p *wire.Plan) { p.PerturbationSchedule = []wire.PerturbationPoint{{5, 0}} }},
	{"perturbation_schedule",
		func(p *wire.Plan) { p.PerturbationSchedule = []wire.PerturbationPoint{{6, 1}, {5, 1}} }},
	{"perturbation_schedule",
		func(p *wire.Plan) {
			p.PerturbationSchedule = []wire.PerturbationPoint{{math.MaxUint64, 1}}
		}},
	{"transport", func(p *wire.Plan) { p.Transport = 3 }},
	{"dense_keep", func(p *wire.Plan) { p.Transport = wire.DenseVectors }},
	{"boxes", dense(func(p *wire.Plan) { p.Boxes = []wire.Box{{Low: 1, High: 0}} })},
	{"boxes", dense(func(p *wire.Plan) { p.Boxes = []wire.Box{{Low: nan, High: 0}} })},
	{"boxes", dense(
		func(p *wire.Plan) { p.Boxes = []wire.Box{{Low: 0, High: float32(math.Inf(1))}} })},
	{"boxes", dense(func(p *wire.Plan) { p.Boxes = make([]wire.Box, 2) })}, // of no segments
	{"beta2", dense(func(p *wire.Plan) { p.Beta2 = nan })},
	{"epsilon", dense(func(p *wire.Plan) { p.Epsilon = -1 })},
	{"estimator", dense(func(p *wire.Plan) { p.Estimator = 2 })},
	{"features", dense(func(p *wire.Plan) { p.Features = wire.MaxFeatures + 1 })},
	{"length_scale", dense(func(p *wire.Plan) { p.LengthScale = nan })},
	{"noise", dense(func(p *wire.Plan) { p.Noise = -1 })},
	{"window", dense(func(p *wire.Plan) { p.Window = wire.MaxWindow + 1 })},
	{"prior", dense(func(p *wire.Plan) { p.Prior = 2 })},
	{"length_fit", dense(func(p *wire.Plan) { p.LengthFit = 2 })},
	{"active", dense(func(p *wire.Plan) { p.Active = 4097 })},
	{"around", dense(func(p *wire.Plan) { p.Around = 4097 })},
	{"candidates", dense(func(p *wire.Plan) { p.Candidates = 1<<16 + 1 })},
	{"radius", dense(func(p *wire.Plan) { p.Radius = nan })},
	{"correction", dense(func(p *wire.Plan) { p.Correction = 4 })},
	{"correction_at", dense(func(p *wire.Plan) { p.CorrectionAt = 2 })},
	{"heterogeneity", dense(func(p *wire.Plan) { p.Heterogeneity = nan })},
	{"aggregator", func(p *wire.Plan) { p.Aggregator = 4 }},
	{"control", func(p *wire.Plan) { p.Control = 3 }},
	{"server_rule", func(p *wire.Plan) { p.ServerRule = 7 }},
	{"precision", func(p *wire.Plan) { p.Precision = 2 }},
	{"precision", func(p *wire.Plan) { p.Precision = 6 }},
	{"key_check", func(p *wire.Plan) { p.KeyCheck = make(wire.Bytes, 32) }}, // run_key is public
	{"key_check", func(p *wire.Plan) { p.RunKey, p.KeyCheck = nil, make(wire.Bytes, 31) }},
	{"key_scheme", func(p *wire.Plan) { p.KeyScheme = 1 }}, // run_key is public
	{"run_key", func(p *wire.Plan) { p.RunKey = nil }},
	{"subspace_moves", func(p *wire.Plan) { p.SubspaceMoves = wire.MaxSubspace + 1 }},
	{"subspace_share", func(p *wire.Plan) { p.SubspaceShare = nan }},
	{"pool", func(p *wire.Plan) { p.Pool = wire.MaxPool + 1 }},
	{"prox", func(p *wire.Plan) { p.Prox = -1 }},
	{"server_step", func(p *wire.Plan) { p.ServerStep = -1 }},
	{"server_beta1", func(p *wire.Plan) { p.ServerBeta1 = nan }},
	{"server_beta2", func(p *wire.Plan) { p.ServerBeta2 = 2 }},
	{"server_epsilon", func(p *wire.Plan) { p.ServerEpsilon = nan }},
	{"server_v0", func(p *wire.Plan) { p.ServerV0 = -1 }},
	{"server_rule", func(p *wire.Plan) { p.ServerRule = 9 }},
	{"server_decay", func(p *wire.Plan) { p.ServerRule, p.ServerDecay = wire.ServerNormalized, -1 }},
	{"step_decay", func(p *wire.Plan) { p.StepDecay = 5 }},
	{"warmup", func(p *wire.Plan) { p.Warmup = 1e6 + 1 }},
	{"horizon", func(p *wire.Plan) { p.StepDecay, p.Horizon = wire.Cosine, wire.MaxRound*2 }},
	{"floor", func(p *wire.Plan) { p.StepDecay, p.Horizon, p.Floor = wire.Linear, 1, 1.5 }},
	{"trim", func(p *wire.Plan) { p.Trim = 0.6 }},
	{"clip", func(p *wire.Plan) { p.Clip = float32(math.Inf(1)) }},
	{"perturbations",
		func(p *wire.Plan) {
			p.Control, p.Perturbations = wire.ScaffoldPoint, wire.MaxScalars/2+1
		}},
	{"target", func(p *wire.Plan) { p.Control, p.Target = wire.ScaffoldMean, 2000 }},
	{"late", func(p *wire.Plan) { p.Late = wire.MaxLate + 1 }},
	{"late", func(p *wire.Plan) { p.Late, p.Perturbations = 15, 1000 }},
	{"async", func(p *wire.Plan) { p.Async = 2 }},
	{"mu_auto", func(p *wire.Plan) { p.MuAuto = 2 }},
	{"step_auto", func(p *wire.Plan) { p.StepAuto = 2 }},
	{"groups", func(p *wire.Plan) { p.Groups = 200 }},
	{"groups", func(p *wire.Plan) { p.Groups = grouping.Random }},
	{"group_size", func(p *wire.Plan) { p.GroupSize = grouping.MaxDevices + 1 }},
	{"regroup", func(p *wire.Plan) { p.Regroup = 1 }},
	{"bound", func(p *wire.Plan) { p.Bound = nan }},
	{"claim_bound", func(p *wire.Plan) { p.ClaimBound = -1 }},
	{"trust", func(p *wire.Plan) { p.Bound, p.Trust = 3, 1001 }},
	{"classes", func(p *wire.Plan) { p.Classes = 65 }},
	{"roots", func(p *wire.Plan) { rooted(p, slices.Repeat([]string{"a"}, wire.MaxMetrics+1)...) }},
	{"roots", func(p *wire.Plan) { rooted(p, "pi-1", "pi-1") }},
	{"roots", func(p *wire.Plan) { rooted(p, "pi 1") }},
	{"cohort", func(p *wire.Plan) { p.Control, p.Cohort = wire.ScaffoldPoint, 2 }},
	{"loss_unit", func(p *wire.Plan) { p.LossUnit = -1 }},
	{"dp_clip", func(p *wire.Plan) { p.DPClip = nan }},
	{"dp_noise", func(p *wire.Plan) { p.DPClip, p.DPNoise = 1, 1001 }},
	{"dp_by", func(p *wire.Plan) { p.DPClip, p.DPBy = 1, 2 }},
	{"dp_of", func(p *wire.Plan) { p.DPClip, p.Secure, p.DPOf = 1, 1, 2 }},
	{"dp_delta", func(p *wire.Plan) { p.DPClip, p.DPDelta = 1, -1 }},
	{"secure", func(p *wire.Plan) { p.Secure = 2 }},
	{"secure_range", func(p *wire.Plan) { p.Secure, p.SecureRange = 1, nan }},
	{"secure_lists", func(p *wire.Plan) { p.Secure, p.SecureLists = 1, 2 }},
	{"weights", func(p *wire.Plan) { p.Weights = 2 }},
	{"max_weight", func(p *wire.Plan) { p.MaxWeight = 0 }},
	{"max_weight", func(p *wire.Plan) { p.MaxWeight = wire.MaxWeight + 1 }},
	{"max_scalar", func(p *wire.Plan) { p.MaxScalar = 0 }},
	{"roster", func(p *wire.Plan) { p.Roster = 2 }},
	{"members", func(p *wire.Plan) { p.Members = 0 }},
	{"members", func(p *wire.Plan) { p.Members = 4 }}, // quorum is 5
	{"members", func(p *wire.Plan) { p.Members = wire.MaxMembers + 1 }},
	{"target", func(p *wire.Plan) { p.Target = 0 }},
	{"over_sample", func(p *wire.Plan) { p.OverSample = 0.9 }},
	{"over_sample", func(p *wire.Plan) { p.OverSample = nan }},
	{"quorum", func(p *wire.Plan) { p.Quorum = 0 }},
	{"quorum", func(p *wire.Plan) { p.Quorum = 11 }}, // target is 10
	{"deadline", func(p *wire.Plan) { p.Deadline = 0 }},
	{"max_attempts", func(p *wire.Plan) { p.MaxAttempts = 0 }},
	{"reannounce", func(p *wire.Plan) { p.Reannounce = 0 }},
	{"announce_budget", func(p *wire.Plan) { p.AnnounceBudget = 1 << 20 }},
	{"shards", func(p *wire.Plan) { p.Shards = 0 }},
	{"shards", func(p *wire.Plan) { p.Shards = 1297 }},
	{"eval_count", func(p *wire.Plan) { p.EvalEvery, p.Metrics = 10, []string{"loss"} }},
	{"eval_count", func(p *wire.Plan) { p.EvalCount = wire.MaxMembers + 1 }},
	{"metrics", func(p *wire.Plan) { p.EvalEvery, p.EvalCount = 10, 3 }},
	{"metrics", func(p *wire.Plan) { p.Metrics = slices.Repeat([]string{"m"}, wire.MaxMetrics+1) }},
	{"metrics", func(p *wire.Plan) { p.Metrics = []string{"loss", "loss"} }},
	{"metrics", func(p *wire.Plan) { p.Metrics = []string{"top 5"} }},
	{"rounds", func(p *wire.Plan) { p.Rounds = 1<<53 + 1<<10 }},
	{"stop_metric", func(p *wire.Plan) { p.StopMetric = "accuracy" }},
	{"eval_every", func(p *wire.Plan) { p.Metrics, p.StopMetric = []string{"loss"}, "loss" }},
	{"stop_when", func(p *wire.Plan) { p.StopWhen = 2 }},
	{"stop_value", func(p *wire.Plan) { p.StopValue = nan }},
	{"diverge", func(p *wire.Plan) { p.Diverge = -1 }},
}

// segment gives the plan a single segment, changed.
func segment(change func(*wire.Segment)) func(*wire.Plan) {
	return func(p *wire.Plan) {
		p.Segments = []wire.Segment{{Name: "a", Len: p.Dim, Fill: wire.NormalFill, Scale: 0.1}}
		change(&p.Segments[0])
	}
}

// dense gives the plan transport=dense, and changes it.
func dense(change func(*wire.Plan)) func(*wire.Plan) {
	return func(p *wire.Plan) {
		p.Transport, p.DenseKeep = wire.DenseVectors, 2
		change(p)
	}
}

// rooted gives the plan roots, and what they need.
func rooted(p *wire.Plan, ids ...string) { p.Bound, p.Trust, p.Roots = 3, 10, ids }

func TestValidateNamesTheFault(t *testing.T) {
	tested := map[string]bool{}
	for i, test := range invalid {
		p := testPlan(t)
		if err := valid.Plan(p); err != nil {
			t.Fatal(err)
		}
		test.spoil(p)
		err := valid.Plan(p)
		var fault *wire.PlanError
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
	// These may have any value.
	free := []string{"batch", "digest_every", "rebase"} // refused has rebase
	for _, f := range wire.Fields() {
		if !tested[f.Name] && !slices.Contains(free, f.Name) {
			t.Errorf("no row breaks %s", f.Name)
		}
	}
}

// TestValidAtTheEdge: values at their limits are allowed.
func TestValidAtTheEdge(t *testing.T) {
	edges := map[string]func(*wire.Plan){
		"segment": segment(
			func(s *wire.Segment) { s.MuScale, s.StepScale, s.Scale = 1e-6, 1e6, 1e6 }),
		"mu least":   func(p *wire.Plan) { p.Mu = 1e-18 },
		"mu most":    func(p *wire.Plan) { p.Mu = 1e18 },
		"step least": func(p *wire.Plan) { p.StepSize = 1e-18 },
		"scalars":    func(p *wire.Plan) { p.Steps, p.Perturbations = 1024, 14 },
		"rounds":     func(p *wire.Plan) { p.Rounds = 1 << 53 },
		"dim":        func(p *wire.Plan) { p.Dim = wire.MaxDim },
		"all":        func(p *wire.Plan) { p.Batch, p.DigestEvery = 0, 0 },
		"largest": func(p *wire.Plan) {
			p.Batch, p.DigestEvery = math.MaxUint32, math.MaxUint32
		},
		"stop value": func(p *wire.Plan) { p.StopValue = -math.MaxFloat32 },
	}
	for name, change := range edges {
		p := testPlan(t)
		change(p)
		if err := valid.Plan(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStepSizesStayFinite: in no plan that can run does the step size become 0 or infinite,
// which no replica would apply.
func TestStepSizesStayFinite(t *testing.T) {
	for _, step := range []float32{1e-18, 1e18} {
		for _, factor := range []float32{1e-6, 1e6} {
			p := testPlan(t)
			p.StepSize, p.StepDecay, p.StepSchedule = step, wire.InverseSqrt,
				[]wire.StepPoint{{Round: 2, Factor: factor}}
			if err := valid.Plan(p); err != nil {
				t.Fatal(err)
			}
			for _, round := range []uint64{1, 2, 1 << 53} {
				if eta := p.StepSizeAt(round); !(eta > 0) || math.IsInf(float64(eta*factor), 0) {
					t.Errorf("step %v, factor %v, round %d: %v", step, factor, round, eta)
				}
			}
			p.Warmup, p.Rounds = 1e6, 1
			for _, p.StepDecay = range []wire.StepDecay{wire.InverseSqrt, wire.Cosine, wire.Linear,
				wire.SlowSqrt} {
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
