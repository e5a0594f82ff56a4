package valid_test

// overNoise is a plan with differential privacy.
const overNoise = "dp_clip=1 dp_noise=1 dp_delta=1e-5 diverge=0 weights=equal eval_every=0 "

// refusedNoise has a plan for each refusal of differential privacy.
var refusedNoise = []refusedPlan{
	{"dp_clip", overNoise + "dp_clip=0"},
	{"dp_clip", overNoise + "dp_clip=1e-10"},
	{"dp_noise", overNoise + "dp_noise=0"},
	{"dp_delta", overNoise + "dp_delta=0"},
	{"dp_clip", overNoise + "transport=dense dense_keep=2"},
	{"dp_clip", overNoise + "transport=relay sharing=per-client dp_by=coordinator"},
	{"dp_clip", overNoise + "weights=samples"},
	{"dp_clip", overNoise + "aggregator=median"},
	{"dp_clip", overNoise + "control=scaffold-1 steps=2"},
	{"dp_clip", overNoise + "late=4"},
	{"dp_clip", overNoise + "bound=8"},
	{"dp_clip", overNoise + "claim_bound=8"},
	{"dp_clip", overNoise + "mu=auto step=auto server_rule=normalized"},
	{"dp_clip", overNoise + "mu=auto"},
	{"dp_clip", overNoise + "step=auto server_rule=normalized"},
	{"dp_clip", overNoise + "diverge=2"},
	{"dp_clip", overNoise + "eval_every=5 eval_count=1 metrics=[\"loss\"] stop_metric=loss " +
		"stop_value=1"},
	{"dp_clip", overNoise + "eval_every=5 eval_count=1 metrics=[\"loss\"]"},
	{"dp_clip", overNoise + "best=loss patience=5"},
	{"dp_of", overNoise + "dp_of=sum"},
	{"max_scalar", overNoise + "max_scalar=8"},
}

// overSecure is a plan with secure aggregation.
const overSecure = "secure=sum diverge=0 weights=equal eval_every=0 "

// refusedSecure has a plan for each refusal of secure aggregation.
var refusedSecure = []refusedPlan{
	{"secure_range", overSecure + "secure=none secure_range=8"},
	{"secure_range", overNoise + "secure=sum quorum=4 dp_of=sum secure_range=4.9"},
	{"secure", overSecure + "transport=dense dense_keep=2"},
	{"secure", overSecure + "transport=relay sharing=per-client"},
	{"secure", overSecure + "roster=open"},
	{"secure", overSecure + "weights=samples"},
	{"secure", overSecure + "aggregator=median"},
	{"secure", overSecure + "control=scaffold-1 steps=2"},
	{"secure", overSecure + "late=4"},
	{"secure", overSecure + "claim_bound=8"},
	{"secure", overSecure + "mu=auto step=auto server_rule=normalized"},
	{"secure", overSecure + "mu=auto"},
	{"secure", overSecure + "step=auto server_rule=normalized"},
	{"secure", overSecure + "eval_every=5 eval_count=1 metrics=[\"loss\"]"},
	{"secure", overSecure + "dp_clip=1 dp_noise=1 dp_delta=1e-5 dp_by=coordinator"},
	{"quorum", overSecure + "quorum=2"},
	{"target", overSecure + "members=5000 target=5000"},
	{"secure_lists", "secure_lists=agreed"},
	{"secure_lists", overSecure + "secure_lists=agreed"},
	{"secure_lists", overSecure + "secure_lists=agreed members=500 target=101 run_key= key_check=" +
		"c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0"},
}
