package valid_test

// overNoise is a plan with differential privacy.
const overNoise = "dp_clip=1 dp_noise=1 dp_delta=1e-5 diverge=0 weights=equal eval_every=0 "

// refusedNoise has a plan for each refusal of differential privacy.
var refusedNoise = []refusedPlan{
	{"dp_clip", overNoise + "dp_clip=0", []string{"dp_clip=1", "dp_noise=0 dp_by=device dp_delta=0"}},
	{"dp_clip", overNoise + "dp_clip=1e-10", []string{"dp_clip=1"}},
	{"dp_noise", overNoise + "dp_noise=0",
		[]string{"dp_noise=1", "dp_clip=0 dp_by=device dp_delta=0"}},
	{"dp_delta", overNoise + "dp_delta=0", []string{"dp_delta=1e-5"}},
	{"dp_clip", overNoise + "transport=dense dense_keep=2",
		[]string{"transport=mean sharing=shared dense_keep=0",
			"dp_clip=0 dp_noise=0 dp_by=device dp_delta=0"}},
	{"dp_clip", overNoise + "transport=relay sharing=per-client dp_by=coordinator",
		[]string{"transport=mean sharing=shared", "dp_clip=0 dp_noise=0 dp_by=device dp_delta=0"}},
	{"dp_clip", overNoise + "weights=samples", []string{"weights=equal"}},
	{"dp_clip", overNoise + "aggregator=median", []string{"aggregator=weighted-mean trim=0 clip=0"}},
	{"dp_clip", overNoise + "control=scaffold-1 steps=2", []string{"control=none"}},
	{"dp_clip", overNoise + "late=4",
		[]string{"late=0 async=off"}},
	{"dp_clip", overNoise + "bound=8", []string{"bound=0 claim_bound=0 trust=0"}},
	{"dp_clip", overNoise + "mu=auto step=auto server_rule=normalized",
		[]string{"mu=0.001 mu_auto=off step=0.04 step_auto=off"}},
	{"dp_clip", overNoise + "mu=auto", []string{"mu=0.001 mu_auto=off"}},
	{"dp_clip", overNoise + "step=auto server_rule=normalized", []string{"step=0.04 step_auto=off"}},
	{"dp_clip", overNoise + "diverge=2", []string{"diverge=0"}},
	{"dp_clip", overNoise + "eval_every=5 eval_count=1 metrics=[\"loss\"] stop_metric=loss " +
		"stop_value=1", nil},
	{"dp_clip", overNoise + "eval_every=5 eval_count=1 metrics=[\"loss\"]",
		[]string{"eval_every=0", "dp_by=coordinator"}},
	{"dp_of", overNoise + "dp_of=sum", []string{"secure=sum", "dp_of=device"}},
	{"max_scalar", overNoise + "max_scalar=8", nil},
}
