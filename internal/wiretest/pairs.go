package wiretest

import (
	"slices"
	"strings"
)

// A Pair is two choices of a plan. Settings are the two choices and the other fields that they
// need, in the order in which planfile.Set must apply them to a plan of the preset decomfl.
type Pair struct {
	A, B     string // field=value
	Settings []string
}

// choices are the orthogonal fields of a plan and their values.
var choices = [][]string{
	{"sharing=shared", "sharing=per-client"},
	{"transport=mean", "transport=relay", "transport=dense"},
	{"distribution=normal", "distribution=rademacher", "distribution=sphere",
		"distribution=subspace"},
	{"difference=forward", "difference=central"},
	{"steps=1", "steps=3"},
	{"rule=sgd", "rule=momentum", "rule=torch-momentum", "rule=adam"},
	{"weight_decay=0", "weight_decay=0.01"},
	{"prox=0", "prox=1"},
	{"control=none", "control=scaffold-1", "control=scaffold-2"},
	{"server_rule=mean", "server_rule=sgd", "server_rule=momentum", "server_rule=adam",
		"server_rule=amsgrad",
		"server_rule=yogi", "server_rule=sign"},
	{"aggregator=weighted-mean", "aggregator=median", "aggregator=trimmed-mean",
		"aggregator=clipped-mean"},
	{"weights=equal", "weights=samples"},
	{"roster=dense", "roster=open"},
	{"precision=single", "precision=half"},
	{"pool=0", "pool=64"},
	{"run_key=" + strings.Repeat("07", 32), secret},
	{"boxes=[]", boxed},
	{"estimator=differences", "estimator=surrogate"},
	{"correction=inverse", "correction=one", "correction=zero", "correction=theory"},
	{"correction_at=iterate", "correction_at=round"},
	{"late=0", "late=4"},
	{"async=off", "async=on"},
	// These rows have further values of fields above. They are new rows, so that the earlier rows keep
	// their numbers.
	{"server_rule=normalized"},

	{"mu_auto=off", "mu_auto=on"},
	{"precision=int8", "precision=int4", "precision=int2"},
	{"step_auto=off", "step_auto=on"},
	{"groups=none", "groups=random"},
	{"sharing=groups", "groups=sketch"}, // not in the row of sharing, because rows are only added
	{"groups=auto"},
	{"dp_by=device", "dp_by=coordinator"},
	{"secure=none", "secure=sum"},
	{"dp_of=device", "dp_of=sum"},
	{"classes=0", "classes=10"},
	{"secure_lists=believed", "secure_lists=agreed"},
	{"cohort=record", "cohort=round"},
	{"rule=sign"},
	{"prior=mean", "prior=zero"},
	{"length_fit=off", "length_fit=on"},
	{"server_rule=adagrad"},
	{"control=svrg"},
	{"difference=none"},
	{"server_rule=cma"},
	{"covariance=full", "covariance=limited"},
	{"perturbations_auto=off", "perturbations_auto=on"},
	{"close=target", "close=deadline"},
	{"distribution=lowrank"},
}

// secret stands for a secret run key.
var secret = "key_check=" + strings.Repeat("c0", 32)

// needs are, for each choice, the settings without which a plan with that choice is invalid.
var needs = map[string][]string{
	"sharing=per-client":    {"transport=relay"},
	"transport=relay":       {"sharing=per-client"},
	"distribution=subspace": {"subspace_moves=3", "subspace_share=0.5"},
	"distribution=lowrank": {"dim=40",
		`segments=[{"name":"a","len":32,"rows":4},{"name":"b","len":8}]`},
	"rule=momentum":           {"beta=0.9"},
	"rule=torch-momentum":     {"beta=0.9"},
	"server_rule=sgd":         {"server_step=0.5"},
	"server_rule=momentum":    {"server_step=0.5", "server_beta1=0.9"},
	"server_rule=adam":        adaptive,
	"server_rule=amsgrad":     adaptive,
	"server_rule=yogi":        adaptive,
	"server_rule=sign":        {"server_step=0.001"},
	"server_rule=adagrad":     adaGrad,
	"server_rule=normalized":  {"steps=1", "server_beta1=0.9", "server_beta2=0.99"},
	"server_rule=cma":         evolution,
	"difference=none":         evolution,
	"covariance=limited":      evolution,
	"perturbations_auto=on":   evolution,
	"step_auto=on":            {"steps=1", "server_rule=normalized"},
	"aggregator=trimmed-mean": {"trim=0.4"}, // cuts off one of 3 at either end
	"aggregator=clipped-mean": {"clip=10"},
	"precision=half":          {"max_scalar=1000"},
	"precision=int8":          fewBits,
	"precision=int4":          fewBits,
	"precision=int2":          fewBits,
	"pool=64":                 {"rebase=4"},
	secret:                    {"run_key="},
	"transport=dense":         dense,
	"rule=adam": slices.Concat(dense,
		[]string{"beta=0.9", "beta2=0.999", "epsilon=1e-8"}),
	"rule=sign":           dense,
	boxed:                 dense,
	"estimator=surrogate": surrogate,
	"correction=one":      surrogate,
	"correction=zero":     surrogate,
	"correction=theory":   slices.Concat(surrogate, []string{"heterogeneity=1"}),
	"correction_at=round": surrogate,
	"prior=zero":          surrogate,
	"length_fit=on":       surrogate,

	"async=on": {"late=4"},

	"dp_by=device":      noisy,
	"dp_by=coordinator": noisy,

	"dp_of=sum": slices.Concat(noisy, []string{"secure=sum"}),

	"secure=sum": {"max_scalar=1000", "eval_every=0"},
	"secure_lists=agreed": {"secure=sum", "max_scalar=1000", "eval_every=0", secret, "run_key=",
		"members=100"},

	"groups=random":  groups,
	"groups=sketch":  groups,
	"sharing=groups": groups,
	"classes=10":     slices.Concat(groups, []string{"groups=sketch", "steps=1"}),
	"cohort=round":   {"control=scaffold-1"},
	"groups=auto":    {"sharing=groups", "transport=relay", "group_size=0", "regroup=2"},
}

// groups has the settings of groups of five devices.
var groups = []string{"sharing=groups", "transport=relay", "groups=random", "group_size=5",
	"regroup=2"}

// noisy has the settings of differential privacy.
var noisy = []string{"dp_clip=1", "dp_noise=1", "dp_delta=1e-5", "max_scalar=1000", "diverge=0",
	"eval_every=0"}

// evolution has the settings of an evolution strategy.
var evolution = []string{"steps=1", "perturbations=6", "mu=0", "difference=none",
	"server_rule=cma", "covariance=limited"}

// boxed keeps all parameters in one box.
const boxed = `boxes=[{"low":-2,"high":2}]`

// fewBits holds the settings that scalars of few bits need.
var fewBits = []string{"max_scalar=1000", "sharing=per-client", "transport=relay"}

var dense = []string{"transport=dense", "dense_keep=2"}

// surrogate has the settings of a small surrogate.
var surrogate = slices.Concat(dense,
	[]string{"perturbations=1", "estimator=surrogate", "features=32", "length_scale=1",
		"noise=1e-6",
		"window=12", "active=1", "around=2", "candidates=4", "radius=0.1"})

var adaGrad = []string{"server_step=0.02", "server_beta1=0.9", "server_epsilon=1e-8",
	"server_v0=1e-5"}

var adaptive = []string{"server_step=0.02", "server_beta1=0.9", "server_beta2=0.99",
	"server_epsilon=1e-8", "server_v0=1e-5"}

// Choices returns the values of every orthogonal field, in the order of Pairs.
func Choices() []string { return slices.Concat(choices...) }

// Pairs returns every pair of values of different fields. B is the value that choices lists first.
func Pairs() []Pair {
	var list []Pair
	for i, field := range choices {
		for _, a := range field {
			for _, b := range slices.Concat(choices[:i]...) {
				if fieldOf(a) != fieldOf(b) {
					list = append(list, Pair{a, b, settings(a, b)})
				}
			}
		}
	}
	return list
}

// fieldOf returns the field of a choice.
func fieldOf(choice string) string {
	field, _, _ := strings.Cut(choice, "=")
	return field
}

// settings returns the settings of two choices. The settings that the choices need come first, so
// that they do not change a choice. If both choices need a transport, the setting of a applies:
// sharing=per-client is valid with transport=relay and with transport=dense.
func settings(a, b string) []string {
	list := []string{"steps=3", "perturbations=2"}
	list = append(list, needs[b]...)
	list = append(list, needs[a]...)
	return append(list, a, b)
}
