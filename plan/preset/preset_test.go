package preset_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

// numbers are the settings of a method in its paper, or in the paper's code where the paper is
// silent; decomfl-adam is in no paper, and has the settings of experiment beyond.
type numbers struct {
	sharing      plan.Sharing
	distribution plan.Distribution
	difference   plan.Difference
	transport    plan.Transport
	k, p, batch  uint32
	mu, step     float32
	decay        plan.StepDecay
	moves        uint32
	share, prox  float32
	control      plan.Control
	server       plan.ServerRule
	rule         plan.Rule // sgd if none is given
	pool         uint32
	weights      plan.Weights
}

var papers = map[string]numbers{
	"decomfl": {distribution: plan.Normal, difference: plan.Forward, k: 1, p: 10,
		batch: 32, mu: 1e-3, step: 1e-3},
	"mezo": {distribution: plan.Normal, difference: plan.Central, k: 1, p: 1,
		batch: 16, mu: 1e-3, step: 1e-6},
	"fedkseed": {distribution: plan.Normal, difference: plan.Central, k: 200, p: 1, batch: 1,
		mu: 5e-4, step: 3e-7, pool: 4096, weights: plan.BySamples},
	"zo-adafl": {sharing: plan.PerClient, transport: plan.Relay, distribution: plan.Sphere,
		difference: plan.Forward, k: 50, p: 1,
		batch: 25, mu: 1e-3, step: 1e-3, server: plan.ServerAMSGrad},
	"zo-adafl-shared": {distribution: plan.Sphere, difference: plan.Forward, k: 50, p: 1,
		batch: 25, mu: 1e-3, step: 1e-3, server: plan.ServerAMSGrad},
	"fedzo": {sharing: plan.PerClient, transport: plan.Relay,
		distribution: plan.Sphere, difference: plan.Forward, k: 20, p: 20, batch: 25, mu: 1e-3,
		step: 1e-3},
	"zofedht":             trajectory(plan.PerClient, plan.Subspace, 64),
	"zofedht-shared":      trajectory(plan.SharedDirections, plan.Subspace, 64),
	"zofedavg-sgd":        trajectory(plan.PerClient, plan.Normal, 64),
	"zofedavg-sgd-shared": trajectory(plan.SharedDirections, plan.Normal, 64),
	"zofedavg-gd":         trajectory(plan.PerClient, plan.Normal, 0),
	"zofedavg-gd-shared":  trajectory(plan.SharedDirections, plan.Normal, 0),
	"fedprox": {distribution: plan.Normal, difference: plan.Forward, k: 10, p: 20,
		mu: 0.01, step: 0.01, prox: 1},
	"scaffold-1": {distribution: plan.Normal, difference: plan.Forward, k: 10, p: 20,
		mu: 0.01, step: 0.01, control: plan.ScaffoldPoint},
	"zo-svrg": {distribution: plan.Normal, difference: plan.Forward, k: 5, p: 10, batch: 32,
		mu: 1e-3, step: 1e-3, control: plan.SVRG},
	"decomfl-adam": {distribution: plan.Rademacher, difference: plan.Forward, k: 1, p: 19,
		batch: 32, mu: 1e-3, step: 1e-3, server: plan.ServerAdam},
	"zofl": {sharing: plan.GroupDirections, transport: plan.Relay, distribution: plan.Rademacher,
		difference: plan.Forward, k: 1, p: 10, batch: 200, server: plan.ServerNormalized},
	"cma": {distribution: plan.Normal, difference: plan.NoDifference, k: 1, p: 24, // 4 + 3 ln 1000
		server: plan.ServerCMA},
	"zofl-shared": {distribution: plan.Rademacher, difference: plan.Forward, k: 1, p: 10,
		batch: 200, server: plan.ServerNormalized},
	"scaffold-2": {distribution: plan.Normal, difference: plan.Forward, k: 10, p: 20,
		mu: 0.01, step: 0.01, control: plan.ScaffoldMean},
	"fedzo-dense": {sharing: plan.PerClient, transport: plan.DenseVectors,
		distribution: plan.Sphere, difference: plan.Forward, k: 20, p: 20, batch: 25, mu: 1e-3,
		step: 1e-3},
	// T is that of G.1's quadratic; fzoos probes no directions.
	"fzoos": {transport: plan.DenseVectors, distribution: plan.Normal, difference: plan.Forward,
		k: 10, p: 1, mu: 1e-3, step: 0.01, rule: plan.LocalAdam},
}

// trajectory returns the numbers of section IV of the ZOFedHT paper.
func trajectory(sharing plan.Sharing, distribution plan.Distribution, batch uint32) numbers {
	n := numbers{sharing: sharing, distribution: distribution, difference: plan.Central, k: 50,
		p:     1,
		batch: batch, mu: 1e-4, step: 1, decay: plan.InverseSqrt}
	if sharing == plan.PerClient {
		n.transport = plan.Relay
	}
	if distribution == plan.Subspace {
		n.moves, n.share = 5, 0.5
	}
	return n
}

func numbersOf(p *plan.Plan) numbers {
	rule := p.Rule
	if rule == plan.SGD {
		rule = 0
	}
	return numbers{p.Sharing, p.Distribution, p.Difference, p.Transport, p.Steps, p.Perturbations,
		p.Batch,
		p.Mu, p.StepSize, p.StepDecay, p.SubspaceMoves, p.SubspaceShare, p.Prox, p.Control,
		p.ServerRule, rule, p.Pool, p.Weights}
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

// TestPresetsAreThePapers compares every preset with the numbers of its paper.
func TestPresetsAreThePapers(t *testing.T) {
	for _, info := range preset.List() {
		p, err := preset.Unbound(info.Name, "r1", 1000)
		if err != nil {
			t.Fatal(err)
		}
		if want, known := papers[info.Name]; !known || numbersOf(p) != want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", info.Name, numbersOf(p), want)
		}
		if p.Aggregator != plan.WeightedMean || p.WeightDecay != 0 {
			t.Errorf("%s has more than its paper: %+v", info.Name, p)
		}
		for line := range strings.Lines(info.Notes) {
			if len(line) > 91 || strings.TrimSpace(line) == "" {
				t.Errorf("%s: a line of notes of %d bytes: %q", info.Name, len(line), line)
			}
		}
	}
	if len(preset.List()) != len(papers) {
		t.Errorf("%d presets, %d papers", len(preset.List()), len(papers))
	}
	p, err := preset.Unbound("zo-adafl", "r1", 1000)
	if err != nil {
		t.Fatal(err)
	}
	got := [5]float32{p.ServerStep, p.ServerBeta1, p.ServerBeta2, p.ServerEpsilon, p.ServerV0}
	if want := [5]float32{0.02, 0.9, 0.99, 1e-8, 1e-5}; got != want {
		t.Errorf("zo-adafl: alpha, beta1, beta2, epsilon, v0 = %v, want section 5.2's %v", got,
			want)
	}
}

// TestInverseSqrtIsThePapers: inverse-sqrt equals ZOFedHT's eta0/sqrt(r+1), where r starts from 0.
func TestInverseSqrtIsThePapers(t *testing.T) {
	p, err := preset.Unbound("zofedht", "r1", 1000)
	if err != nil {
		t.Fatal(err)
	}
	for round, want := range map[uint64]float32{1: 1, 4: 0.5, 100: 0.1} {
		if got := p.StepSizeAt(round); got != want {
			t.Errorf("eta of round %d: got %v, want %v", round, got, want)
		}
	}
}

// TestRelayedPresetsFit: the longest records of presets with transport=relay are within
// MaxRecord.
func TestRelayedPresetsFit(t *testing.T) {
	relayed := 0
	for _, info := range preset.List() {
		p, err := preset.Unbound(info.Name, "r1", 1000)
		if err != nil {
			t.Fatal(err)
		}
		if p.Transport != plan.Relay {
			continue
		}
		relayed++
		p.Members, p.Weights = plan.MaxMembers, plan.BySamples
		if err := valid.Plan(p); err != nil {
			t.Errorf("%s: %v", info.Name, err)
		}
		if got := cost.Of(p, cost.Input{Round: 1 << 40}).Record; got > wire.MaxRecord ||
			got < int(p.Target*p.Steps)*p.Precision.Bytes(int(p.Perturbations)) {
			t.Errorf("%s: a record of %d bytes", info.Name, got)
		}
	}
	if relayed != 6 {
		t.Errorf("%d presets relay, want 6", relayed)
	}
}

// TestDecomflAdamCosts: decomfl-adam costs the same queries and bytes as DeComFL in its
// authors' settings, with P = 10 and central differences.
func TestDecomflAdamCosts(t *testing.T) {
	own, plain := planOf(t, "decomfl-adam"), planOf(t, "decomfl")
	plain.Difference = plan.Central
	got, want := cost.Of(own, cost.Input{}), cost.Of(plain, cost.Input{})
	if got.Queries != want.Queries || got.Perturbations != 19 {
		t.Errorf("%d queries for P = %d, want %d for 19", got.Queries, got.Perturbations,
			want.Queries)
	}
	if got.Up.Socket > want.Up.Socket || got.Record > want.Record {
		t.Errorf("%d bytes up and a record of %d, want no more than %d and %d", got.Up.Socket,
			got.Record, want.Up.Socket, want.Record)
	}
	settings := [5]float32{own.ServerStep, own.ServerBeta1, own.ServerBeta2, own.ServerEpsilon,
		own.ServerV0}
	if settings != [5]float32{2e-3, 0.9, 0.99, 1e-12, 0} || own.Precision != plan.Half ||
		own.MaxScalar != 65504 {
		t.Errorf("alpha, beta1, beta2, epsilon, v0 = %v, %v up to %v", settings, own.Precision,
			own.MaxScalar)
	}
}

// TestDensePresets: fzoos has the numbers of appendix G, "General Settings". Adam has the numbers
// of its own paper (Kingma and Ba, algorithm 1). The noise of 1e-6 is from the code of FZooS. The
// notes name the settings that no paper gives.
func TestDensePresets(t *testing.T) {
	p := planOf(t, "fzoos")
	got := [8]float32{float32(p.Features), p.LengthScale, p.Noise, float32(p.Active),
		float32(p.Candidates), p.Radius, p.Beta2, p.Epsilon}
	if want := [8]float32{10000, 1, 1e-6, 5, 100, 0.01, 0.999, 1e-8}; got != want {
		t.Errorf("M, l, sigma^2, active, candidates, radius, beta2, epsilon = %v, want appendix "+
			"G's %v", got, want)
	}
	if p.Correction != plan.CorrectionInverse || p.CorrectionAt != plan.AtIterate {
		t.Errorf("%v correction at the %v", p.Correction, p.CorrectionAt)
	}
	dense, relayed := planOf(t, "fedzo-dense"), planOf(t, "fedzo")
	if dense.Queries(dense.Perturbations) != relayed.Queries(relayed.Perturbations) ||
		dense.Estimator != plan.Differences {
		t.Error("fedzo-dense is another method than fedzo")
	}
	// FZooS's baselines: Adam 0.01, Q = 20, and their corrections.
	for _, more := range [][2]string{{"prox", "1"}, {"control", "scaffold-1"},
		{"control", "scaffold-2"}} {
		p := planOf(t, "fedzo-dense")
		for _, s := range [][2]string{{"rule", "adam"}, {"beta", "0.9"}, {"beta2", "0.999"},
			{"epsilon", "1e-8"}, {"step", "0.01"}, {"boxes", `[{"low":-10,"high":10}]`}, more} {
			if err := planfile.Set(p, s[0], s[1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := valid.Plan(p); err != nil {
			t.Errorf("%v: %v", more, err)
		}
	}
	for _, name := range []string{"fzoos", "fedzo-dense"} {
		if p := planOf(t, name); p.DenseKeep != plan.DefaultDenseKeep {
			t.Errorf("%s keeps the vectors of %d records", name, p.DenseKeep)
		}
	}
}

func TestPresetsValidate(t *testing.T) {
	if len(preset.List()) == 0 {
		t.Fatal("no presets")
	}
	for _, info := range preset.List() {
		p, err := preset.Unbound(info.Name, "r1", 1000)
		if err != nil {
			t.Fatalf("%s: %v", info.Name, err)
		}
		if err := valid.Plan(p); err != nil {
			t.Errorf("%s: %v", info.Name, err)
		}
		if info.Source == "" || info.Notes == "" || p.Preset != info.Name {
			t.Errorf("%s: source %q, notes %q, preset %q", info.Name, info.Source, info.Notes,
				p.Preset)
		}
		other, _ := preset.Unbound(info.Name, "r1", 1000)
		if slices.Equal(p.RunKey, other.RunKey) {
			t.Errorf("%s: two plans have one run key", info.Name)
		}
	}
	if _, err := preset.Unbound("nosuch", "r1", 1000); err == nil ||
		!strings.Contains(err.Error(), "decomfl") {
		t.Errorf("unknown preset: got %v, want the names of those there are", err)
	}
}

// TestGuard: Guard sets the bound for every preset except those that send vectors. No plan of
// [preset.Unbound] has the bound. Guard does not change a bound that a plan already has.
func TestGuard(t *testing.T) {
	for _, info := range preset.List() {
		p := planOf(t, info.Name)
		if p.Bound != 0 {
			t.Errorf("%s has a bound of %v, which is not its paper's", info.Name, p.Bound)
		}
		want := float32(8)
		if p.Transport == plan.DenseVectors {
			want = 0
		}
		preset.Guard(p)
		if err := valid.Plan(p); err != nil || p.Bound != want || p.ClaimBound != 8 {
			t.Errorf("%s: bound %v, want %v, claim_bound %v: %v", info.Name, p.Bound, want,
				p.ClaimBound, err)
		}
		if p.Bound = 3; p.Transport != plan.DenseVectors {
			if preset.Guard(p); p.Bound != 3 {
				t.Errorf("%s: a bound of 3 became %v", info.Name, p.Bound)
			}
		}
	}
	p := planOf(t, "decomfl")
	p.DPClip = 10
	if preset.Guard(p); p.Bound != 0 || p.ClaimBound != 0 {
		t.Errorf("a plan with noise gets bound=%v claim_bound=%v", p.Bound, p.ClaimBound)
	}
}

// TestNewIsGuarded: the plans of New have bounds so that one device cannot ruin a run. All other
// fields are those of Unbound.
func TestNewIsGuarded(t *testing.T) {
	for _, info := range preset.List() {
		got, err := preset.New(info.Name, "r1", 1000)
		if err != nil {
			t.Fatal(err)
		}
		want, err := preset.Unbound(info.Name, "r1", 1000)
		if err != nil {
			t.Fatal(err)
		}
		preset.Guard(want)
		got.RunKey = want.RunKey
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", info.Name, got, want)
		}
		if err := valid.Plan(got); err != nil || got.ClaimBound == 0 {
			t.Errorf("%s: claim_bound %v: %v", info.Name, got.ClaimBound, err)
		}
	}
	if p, err := preset.New("nosuch", "r1", 1000); p != nil || err == nil {
		t.Errorf("unknown preset: got %v and %v", p, err)
	}
}

// TestGuardOfSums: with secure=sum Guard makes the devices of a private run agree on lists. In
// other runs Guard sets the quorum to three quarters of the devices where that hides more. Guard
// does not change fields that the author has set.
func TestGuardOfSums(t *testing.T) {
	for _, tt := range []struct {
		fields string
		set    []string
		quorum uint32
		lists  uint8
	}{
		{"members=10 target=10", nil, 8, 0},
		{"members=20 target=20", nil, 15, 0},
		{"members=10 target=10 quorum=9", nil, 9, 0},
		{"members=10 target=10 quorum=6", []string{"quorum"}, 6, 0},
		{"members=5 target=10", nil, 5, 0},
		{"members=10 target=10 over_sample=1.4", nil, 10, 0},
		{"members=200 target=200", nil, 5, 0},
		{"members=10 target=10 secure=none", nil, 5, 0},
		{"members=10 target=10" + private, nil, 5, 1},
		{"members=100 target=100" + private, nil, 5, 1},
		{"members=101 target=101" + private, nil, 5, 0},
		{"members=10 target=10" + private, []string{"secure_lists"}, 8, 0},
		{"members=10 target=10 secure=none" + private, nil, 5, 0},
	} {
		p := planOf(t, "decomfl")
		for _, field := range strings.Fields("secure=sum max_scalar=1000 eval_every=0 " + tt.fields) {
			name, value, _ := strings.Cut(field, "=")
			if err := planfile.Set(p, name, value); err != nil {
				t.Fatal(err)
			}
		}
		preset.Guard(p, tt.set...)
		if err := valid.Plan(p); err != nil || p.Quorum != tt.quorum || p.SecureLists != tt.lists {
			t.Errorf("%s: quorum %d, want %d; lists %d, want %d: %v", tt.fields, p.Quorum, tt.quorum,
				p.SecureLists, tt.lists, err)
		}
	}
}

// private are settings of a private run.
const private = " run_key= " +
	"key_check=c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0"
