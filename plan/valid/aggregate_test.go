package valid_test

import "strings"

// Settings that change a plan of the preset decomfl into plans that can run.
var (
	overDense     = "transport=dense dense_keep=16 "
	overAdam      = overDense + "rule=adam beta=0.9 beta2=0.999 epsilon=1e-8 "
	overSurrogate = overDense +
		"perturbations=1 estimator=surrogate features=100 length_scale=1 noise=1e-6 window=50 " +
		"active=5 around=5 candidates=100 radius=0.01 "
	secret = "run_key= key_check=" + strings.Repeat("c0", 32) + " "
)

var refusedDenseOnly = []refusedPlan{
	{"rule", "rule=adam beta=0.9 beta2=0.999 epsilon=1e-8"},
	{"rule", "rule=sign"},
	{"boxes", `boxes=[{"low":0,"high":1}]`},
	{"estimator", overSurrogate + "transport=mean dense_keep=0"},
}

var refusedDense = []refusedPlan{
	{"dense_keep", "transport=dense dense_keep=1"},
	{"dense_keep", "dense_keep=16"},
	{"dim", overDense + "dim=16777217"},
	{"transport", overDense + secret},
	{"transport", overDense + "pool=64 rebase=4"},
	{"transport", overDense + "distribution=subspace subspace_moves=3 subspace_share=0.5"},
	{"server_rule", overDense + "server_rule=sign server_step=0.001"},
	{"aggregator", overDense + "aggregator=median"},
	{"precision", overDense + "precision=half max_scalar=1000"},
	{"max_scalar", overDense + `boxes=[{"low":-1001,"high":1}] max_scalar=1000`},

	{"beta2", overDense + "rule=adam beta=0.9 epsilon=1e-8"},
	{"epsilon", overDense + "rule=adam beta=0.9 beta2=0.999"},
}
