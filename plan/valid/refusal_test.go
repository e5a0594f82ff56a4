package valid_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

// A refusedPlan has settings that change a plan of the preset decomfl, and the field that the error
// must name.
type refusedPlan struct{ field, settings string }

// refused has a plan for each rule that plancheck explains.
var refused = slices.Concat(
	refusedDenseOnly, refusedSeeded, refusedDense, refusedSurrogate, refusedLate,
	refusedAuto, refusedEvolution, refusedGroups, refusedRobust, refusedNoise, refusedSecure,
	refusedRounds)

var refusedAuto = []refusedPlan{
	{"columns", `columns=2 stats=[{"mean":1,"std":1}]`},
	{"columns", "columns=2 dp_clip=1 dp_noise=1 dp_delta=1e-5"},
	{"mu_auto", overSurrogate + "mu_auto=on"},
	{"step_auto", "step=auto"},
	{"step_decay", "step=auto step_decay=cosine rounds=9 server_rule=normalized"},
	{"loss_unit", "loss_unit=1000"},
}

var refusedSeeded = []refusedPlan{
	{"transport", "sharing=per-client"},
	{"transport", "transport=relay"},
	{"roster", "sharing=per-client transport=relay roster=open"},

	{"subspace_moves", "distribution=subspace subspace_share=0.5"},
	{"subspace_share", "distribution=subspace subspace_moves=5"},
	{"subspace_moves", "subspace_moves=5"},
	{"subspace_share", "subspace_share=0.5"},

	{"distribution", "distribution=lowrank"},
	{"distribution", `distribution=lowrank segments=[{"name":"a","len":100}]`},
	{"distribution", overSurrogate + matrix},
	{"distribution", "steps=1 perturbations=6 mu=0 difference=none server_rule=cma " + matrix},
	{"subspace_moves", "subspace_moves=5 subspace_share=0.5 " + matrix},
	{"pool", "pool=4096 rebase=64 " + matrix},

	{"pool", "pool=1 rebase=64"},
	{"rebase", "pool=4096"},
	{"rebase", "rebase=64"},
	{"pool", "pool=4096 rebase=64 sharing=per-client transport=relay"},
	{"pool", "pool=4096 rebase=64 distribution=subspace subspace_moves=5 subspace_share=0.5"},
	{"pool", "pool=4096 rebase=64 server_rule=sign server_step=0.1"},
	{"pool", "pool=4096 rebase=64 control=scaffold-1"},
	{"pool", `pool=4096 rebase=64 weight_decay=1e-3 ` +
		`segments=[{"name":"a","len":100,"step_scale":2}]`},

	{"beta", "beta=0.9"},
	{"beta", "transport=dense dense_keep=16 rule=sign beta=0.9"},
	{"beta", "rule=momentum"},
	{"prox", "prox=1"}, // steps is 1

	{"control", "control=scaffold-1 sharing=per-client transport=relay"},
	{"control", "control=scaffold-2 distribution=subspace subspace_moves=5 subspace_share=0.5"},
	{"control", "control=scaffold-2 roster=open"},
	{"control", "control=scaffold-2 weights=samples"},
	{"control", "control=scaffold-1 aggregator=median"},
	{"control", "control=svrg"},
	{"cohort", "cohort=round"},

	{"server_step", "server_rule=sgd"},
	{"server_beta1", "server_rule=sgd server_step=1 server_beta1=0.9"},
	{"server_beta1", "server_rule=momentum server_step=1"},
	{"server_beta2", "server_rule=momentum server_step=1 server_beta1=0.9 server_beta2=0.99"},
	{"server_epsilon", "server_rule=adam server_step=1 server_beta1=0.9 server_beta2=0.99"},
	{"server_v0", "server_rule=sgd server_step=1 server_v0=1e-5"},
	{"server_decay", "server_rule=sgd server_step=1 server_decay=0.1"},
	{"server_rule", "server_rule=normalized steps=2"},
	{"server_rule", "server_rule=normalized rule=momentum beta=0.9"},
	{"server_rule", "server_rule=normalized weight_decay=0.1"},
	{"server_rule", "server_rule=normalized control=scaffold-1"},
	{"server_rule", "server_rule=normalized distribution=subspace subspace_moves=5 " +
		"subspace_share=0.5"},

	{"rounds", "step_decay=cosine"},
	{"floor", "floor=0.1"},

	{"aggregator", "sharing=per-client transport=relay aggregator=median"},
	{"weights", "aggregator=median weights=samples"},
	{"trim", "aggregator=trimmed-mean"},
	{"trim", "aggregator=trimmed-mean trim=0.05"},
	{"clip", "aggregator=clipped-mean"},
	{"max_scalar", "precision=half"},
	{"max_scalar", "precision=int2 sharing=per-client transport=relay"},
	{"precision", "precision=int4"},
}

// matrix has directions of rank 1.
const matrix = `distribution=lowrank segments=[{"name":"a","len":100,"rows":2}] `

var refusedRounds = []refusedPlan{
	{"quorum", "quorum=20"},
	{"members", "members=3"},
	{"close", "close=deadline late=4 async=on"},
	{"target", "close=deadline sharing=per-client transport=relay target=700 over_sample=2"},
	{"eval_count", `eval_every=5 eval_count=0 metrics=["loss"]`},
	{"metrics", "eval_every=5 eval_count=1 metrics=[]"},
	{"eval_every", `stop_metric=loss metrics=["loss"] eval_every=0`},
	{"best", "best=accuracy"},
	{"eval_every", `best=f1 metrics=["f1"] eval_every=0`},
	{"best", "best_when=lowest"},
	{"best", "min_delta=0.1"},
	{"best", "patience=5"},
	{"groups", "groups=random"},
	{"group_size", "group_size=5"},
	{"regroup", "regroup=5"},
	{"beta2", "beta2=0.9"},
	{"epsilon", "epsilon=0.1"},
	{"features", "features=9"},
	{"length_scale", "length_scale=1"},
	{"noise", "noise=1"},
	{"heterogeneity", overSurrogate + "correction=theory"},
	{"dp_clip", "dp_by=coordinator"},
	{"dp_clip", "dp_delta=0.1"},
}

// also has further refused plans.
var also = []refusedPlan{
	{"key_check", "key_check=" + strings.Repeat("c0", 32)},
	{"key_check", "run_key= key_check=c0"},
	{"key_scheme", "key_scheme=hkdf"},
	{"initial_digest", "initial=given"},
	{"initial_digest", "initial_digest=c0"},
	{"precision", "precision=int8 max_scalar=1"},
	{"precision", "precision=int2 max_scalar=1 " + overDense},
	{"max_scalar", "precision=int8 sharing=per-client transport=relay max_scalar=65505"},
	{"subspace_share", "distribution=subspace subspace_moves=5 subspace_share=1"},
	{"beta", "rule=momentum beta=1"},
	{"server_step", "server_step=1"},
	{"server_step", "server_rule=normalized server_step=1"},
	{"server_beta1", "server_rule=normalized server_beta1=1"},
	{"server_beta2", "server_rule=normalized server_beta2=1"},
	{"server_epsilon", "server_rule=normalized server_epsilon=1"},
	{"server_v0", "server_rule=normalized server_v0=1"},
	{"server_decay", "server_decay=1"},
	{"server_rule", overDense + "server_rule=normalized"},
	{"prox", "server_rule=normalized prox=1"},
	{"floor", "step_decay=slow-sqrt floor=0.1"},
	{"floor", "step_decay=inverse-sqrt floor=1"},
	{"pool", "server_rule=normalized pool=9 rebase=1"},
	{"server_beta1", "server_rule=adam server_step=1 server_beta1=1 server_epsilon=1"},
	{"server_beta2", "server_rule=yogi server_step=1 server_beta2=1 server_epsilon=1"},
	{"server_epsilon", "server_rule=sign server_step=1 server_epsilon=1"},
	{"pool", `pool=9 rebase=1 prox=1 steps=2 segments=[{"name":"a","len":100,"step_scale":2}]`},
	{"aggregator", "sharing=per-client transport=relay aggregator=trimmed-mean trim=0.1"},
	{"weights", "aggregator=trimmed-mean trim=0.1 weights=samples"},
	{"trim", "trim=0.1"},
	{"trim", "aggregator=trimmed-mean trim=0.5"},
	{"clip", "clip=1"},
	{"target", "sharing=per-client transport=relay target=1100"},
	{"target", "sharing=per-client transport=relay steps=50 target=80"},
	{"target", "control=scaffold-2 target=2000"},
	{"beta2", overAdam + "beta2=1"},
	{"beta2", overAdam + "beta2=0"},
	{"epsilon", overAdam + "epsilon=0"},
	{"dim", overDense + "control=scaffold-2 dim=8388609"},
	{"perturbations", overSurrogate + `perturbation_schedule=[{"round":5,"perturbations":2}]`},
	{"radius", overSurrogate + "candidates=0 active=0 around=0"},
	{"radius", "radius=0.1"},
	{"active", "active=1"},
	{"around", "around=1"},
	{"heterogeneity", overSurrogate + "heterogeneity=1"},
	{"max_scalar", overDense +
		`boxes=[{"low":0,"high":1},{"low":0,"high":1e7}] ` +
		`segments=[{"name":"a","len":60},{"name":"b","len":40}]`},
	{"stats", `stats=[{"mean":1,"std":-1}]`},
	{"stats", `stats=[{"mean":1,"std":1,"min":0}]`},
	{"stats", `stats=[{"mean":1,"std":1,"min":0,"max":-1}]`},
	{"stats", `stats=[{"mean":1,"std":1,"count":4503599627370497}]`},
	{"boxes", overDense + `boxes=[{"low":1,"high":1}]`},
	{"boxes", overDense + `boxes=[{"low":0,"high":1e-13}]`},
	{"boxes", overDense + `boxes=[{"low":-1e12,"high":1e12}]`},
	{"boxes", overDense + `boxes=[{"low":0,"high":1},{"low":0,"high":1}]`},
}

// planWith returns the plan of decomfl with settings.
func planWith(t *testing.T, settings string) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound("decomfl", "r1", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range strings.Fields(settings) {
		name, value, _ := strings.Cut(s, "=")
		if err := planfile.Set(p, name, value); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// checkRefused checks that package valid refuses a plan, and that the error has the field, its
// value and a text.
func checkRefused(t *testing.T, field, settings string) {
	t.Helper()
	err := valid.Plan(planWith(t, settings))
	var fault *plan.Error
	if !errors.As(err, &fault) {
		t.Errorf("%s: got %v, want it refused for %s", settings, err, field)
		return
	}
	if fault.Field != field || fault.Value == nil || len(fault.Remedy) < 10 {
		t.Errorf("%s: got field %s, value %v, remedy %q, want field %s", settings, fault.Field,
			fault.Value, fault.Remedy, field)
	}
}

// TestEveryRefusal: package valid refuses each of the plans with an error that names the right
// field. For each rule there is a plan that this rule is the first to refuse.
func TestEveryRefusal(t *testing.T) {
	words := valid.Words()
	for _, test := range slices.Concat(refused, also) {
		if at := valid.Refused(planWith(t, test.settings)); at >= 0 {
			words[at] = valid.Wording{}
		}
		checkRefused(t, test.field, test.settings)
	}
	for _, left := range words {
		if left.Field != "" {
			t.Errorf("%s: no plan is refused first because %q", left.Field, left.What)
		}
	}
}

// TestEveryRefusalIsExplained: package plancheck finds the explanation of each refusal by the field
// and words of the refusal.
func TestEveryRefusalIsExplained(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range valid.Words() {
		key := w.Field + ": " + w.What
		if seen[key] {
			t.Errorf("%q refuses two combinations", key)
		}
		seen[key] = true
	}
	for _, test := range refused {
		key := valid.Plan(planWith(t, test.settings)).(*plan.Error)
		says := plancheck.Validate(planWith(t, test.settings)).(*plan.Error).Remedy
		if !strings.HasPrefix(says, key.Remedy+": ") && !strings.HasPrefix(says, key.Remedy+"; ") {
			t.Errorf("%s: %q is explained as %q", key.Field, key.Remedy, says)
		}
		checkRemedy(t, test.settings, says)
	}
}

// checkRemedy checks that the settings that an explanation ends with cure a plan of decomfl.
func checkRemedy(t *testing.T, settings, says string) {
	t.Helper()
	remedy, _, _ := strings.Cut(says[strings.LastIndex(says, "; ")+2:], ", or leave out ")
	if set, ok := strings.CutPrefix(remedy, "set "); ok {
		if err := valid.Plan(planWith(t, settings+" "+set)); err != nil {
			t.Errorf("%s: the remedy %s does not help: %v", settings, remedy, err)
		}
	} else if !strings.Contains(remedy, "cannot: begin with ") &&
		!strings.Contains(remedy, "--secret") && !strings.Contains(remedy, "give its rows") {
		t.Errorf("%s: no remedy, but %q", settings, says)
	}
}

// TestRefusalsAtTheEdge: plans just within the limits can run.
func TestRefusalsAtTheEdge(t *testing.T) {
	for _, settings := range []string{
		"sharing=per-client transport=relay steps=50 perturbations=1 target=70",
		"sharing=per-client transport=relay steps=50 perturbations=1 target=130 precision=half " +
			"max_scalar=65504",
		"sharing=per-client transport=relay precision=int4 max_scalar=65504 " +
			"aggregator=clipped-mean clip=1 weights=samples",
		`distribution=lowrank segments=[{"name":"a","len":96,"rows":2},{"name":"b","len":4}]`,
		"distribution=subspace subspace_moves=64 subspace_share=0.999",
		"pool=2 rebase=1", "pool=65536 rebase=1 weight_decay=1e-3 prox=1 steps=2",
		`pool=9 rebase=1 rule=momentum beta=0.9 segments=[{"name":"a","len":100,"step_scale":2}]`,
		"server_rule=adam server_step=1 server_epsilon=1e-8",
		"server_rule=yogi server_step=1 server_epsilon=1e-8 server_v0=1",
		"server_rule=normalized", "server_rule=normalized late=4 server_decay=1e6",
		"server_rule=normalized server_beta1=0.9 server_beta2=0.99 distribution=sphere",
		"server_rule=normalized sharing=per-client transport=relay weights=samples",
		"server_rule=normalized aggregator=median",
		"step_decay=cosine rounds=100 floor=1", "step_decay=slow-sqrt",
		"server_rule=adam server_step=1 server_epsilon=1e-8 step_decay=cosine rounds=1 floor=0.1",
		"aggregator=trimmed-mean trim=0.49", "control=scaffold-1 weights=samples roster=open",
		"control=svrg steps=2 cohort=round weights=samples roster=open",
		overDense + "control=svrg steps=2 sharing=per-client",
		"control=scaffold-2 target=1000", "control=scaffold-1 steps=7 perturbations=1024",
		overDense + "dense_keep=2 dim=16777216 steps=65535 perturbations=65535",
		overDense + "control=scaffold-2 dim=8388608",
		overDense + "sharing=per-client distribution=sphere control=scaffold-1 weights=samples",
		overDense + "roster=open control=scaffold-2 weights=samples",
		overAdam + `boxes=[{"low":0,"high":1e-12}] prox=1 steps=2 weight_decay=1`,
		overDense + `boxes=[{"low":-5,"high":5},{"low":0,"high":1e12}] max_scalar=1e12 ` +
			`segments=[{"name":"a","len":60},{"name":"b","len":40}]`,
		overSurrogate + "window=2 features=65536 active=100 around=100",
		overSurrogate + "candidates=1 active=0 around=1",
		overSurrogate +
			"rule=momentum beta=0.9 correction=theory heterogeneity=1 correction_at=round " +
			"roster=open",
	} {
		if err := valid.Plan(planWith(t, settings)); err != nil {
			t.Errorf("%s: %v", settings, err)
		}
	}
}

// TestWorstRecordsFit: records of the largest plans that transport=relay and scaffold-2
// allow are within their limits.
func TestWorstRecordsFit(t *testing.T) {
	for settings, limit := range map[string]int{
		"sharing=per-client transport=relay weights=samples members=16777216": wire.MaxRecord,
		"sharing=per-client transport=relay weights=samples members=16777216 precision=half " +
			"max_scalar=1 steps=7": wire.MaxRecord,
		"sharing=per-client transport=relay weights=samples members=16777216 precision=int4 " +
			"max_scalar=1 steps=7": wire.MaxRecord,
		"control=scaffold-2 members=16777216":                             wire.MaxRecord,
		"control=scaffold-2 members=16777216 steps=20":                    wire.MaxRecord,
		"control=scaffold-2 members=16777216 precision=half max_scalar=1": wire.MaxRecord,
	} {
		p := planWith(t, settings)
		p.Target = 10
		for valid.Plan(p) == nil {
			p.Target++
		}
		p.Target--
		got := cost.Of(p, cost.Input{Round: 1 << 50}).Record
		if got > limit || got < limit*3/4 {
			t.Errorf("%s: %d contributors make %d bytes, limit %d", settings, p.Target, got, limit)
		}
	}
}
