package valid_test

import "strings"

// Settings over the preset decomfl that make plans that can run.
var (
	overDense     = "transport=dense dense_keep=16 "
	overAdam      = overDense + "rule=adam beta=0.9 beta2=0.999 epsilon=1e-8 "
	overSurrogate = overDense +
		"perturbations=1 estimator=surrogate features=100 length_scale=1 noise=1e-6 window=50 " +
		"active=5 around=5 candidates=100 radius=0.01 "
	secret = "run_key= key_check=" + strings.Repeat("c0", 32) + " "
)

var refusedDenseOnly = []refusedPlan{
	{"rule", "rule=adam beta=0.9 beta2=0.999 epsilon=1e-8",
		[]string{"transport=dense dense_keep=16", "rule=sgd beta=0 beta2=0 epsilon=0"}},
	{"rule", "rule=sign", []string{"transport=dense dense_keep=16",
		"rule=sgd server_rule=sign server_step=0.001"}},
	{"boxes", `boxes=[{"low":0,"high":1}]`, []string{"transport=dense dense_keep=16", "boxes=[]"}},
	{"estimator", overSurrogate + "transport=mean dense_keep=0",
		[]string{"transport=dense dense_keep=16"}},
}

const meanInstead = "dense_keep=0 transport=mean"

var refusedDense = []refusedPlan{
	{"dense_keep", "transport=dense dense_keep=1", []string{"dense_keep=16"}},
	{"dense_keep", "dense_keep=16", []string{"transport=dense", "dense_keep=0"}},
	{"dim", overDense + "dim=16777217", []string{meanInstead}},
	{"transport", overDense + secret, []string{meanInstead}},
	{"transport", overDense + "pool=64 rebase=4", []string{meanInstead, "pool=0 rebase=0"}},
	{"transport", overDense + "distribution=subspace subspace_moves=3 subspace_share=0.5",
		[]string{meanInstead, "distribution=normal subspace_moves=0 subspace_share=0"}},
	{"server_rule", overDense + "server_rule=sign server_step=0.001", []string{meanInstead}},
	{"aggregator", overDense + "aggregator=median",
		[]string{meanInstead, "aggregator=weighted-mean"}},
	{"precision", overDense + "precision=half max_scalar=1000",
		[]string{meanInstead, "precision=single"}},
	{"max_scalar", overDense + `boxes=[{"low":-1001,"high":1}] max_scalar=1000`, nil},

	{"beta2", overDense + "rule=adam beta=0.9 epsilon=1e-8", []string{"beta2=0.999"}},
	{"epsilon", overDense + "rule=adam beta=0.9 beta2=0.999", []string{"epsilon=1e-8"}},
}

var refusedSurrogate = []refusedPlan{
	{"control", overSurrogate + "control=scaffold-1", []string{"control=none"}},
	{"perturbations", overSurrogate + "perturbations=2",
		[]string{"perturbations=1 perturbation_schedule=[]"}},
	{"sharing", overSurrogate + "sharing=per-client", []string{"sharing=shared"}},

	{"prior", "prior=zero", []string{"prior=mean"}},
	{"length_fit", "length_fit=on", []string{"length_fit=off"}},
	{"correction", "correction=one", []string{"correction=inverse"}},
	{"correction_at", "correction_at=round", []string{"correction_at=iterate"}},
	{"candidates", "candidates=5", []string{"candidates=0"}},

	{"features", overSurrogate + "features=0", []string{"features=10000"}},
	{"features", overSurrogate + "features=65536 dim=4097", []string{"features=1000"}},
	{"length_scale", overSurrogate + "length_scale=0", []string{"length_scale=1"}},
	{"noise", overSurrogate + "noise=0", []string{"noise=1e-6"}},
	{"window", overSurrogate + "window=1", []string{"window=300"}},
	{"window", "window=1", []string{"window=0"}},
	{"active", overSurrogate + "candidates=0 around=0 radius=0",
		[]string{"active=5 candidates=100 radius=0.01"}},
	{"around", overSurrogate + "candidates=0 active=0 radius=0",
		[]string{"around=5 candidates=100 radius=0.01"}},
	{"radius", overSurrogate + "radius=0", []string{"radius=0.01"}},
	{"active", overSurrogate + "active=0 around=0", []string{"active=5"}},
	{"heterogeneity", "heterogeneity=1", []string{"heterogeneity=0"}},
}
