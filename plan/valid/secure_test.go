package valid_test

// overSecure is a plan with secure aggregation.
const overSecure = "secure=sum diverge=0 weights=equal eval_every=0 "

// refusedSecure has a plan for each refusal of secure aggregation.
var refusedSecure = []refusedPlan{
	{"secure_range", overSecure + "secure=none secure_range=8", []string{"secure_range=0"}},
	{"secure", overSecure + "transport=dense dense_keep=2",
		[]string{"transport=mean sharing=shared dense_keep=0", "secure=none secure_range=0"}},
	{"secure", overSecure + "transport=relay sharing=per-client",
		[]string{"transport=mean sharing=shared", "secure=none secure_range=0"}},
	{"secure", overSecure + "roster=open", []string{"roster=dense"}},
	{"secure", overSecure + "weights=samples", []string{"weights=equal"}},
	{"secure", overSecure + "aggregator=median",
		[]string{"aggregator=weighted-mean trim=0 clip=0"}},
	{"secure", overSecure + "control=scaffold-1 steps=2", []string{"control=none"}},
	{"secure", overSecure + "late=4",
		[]string{"late=0 async=off"}},
	{"secure", overSecure + "bound=8", []string{"bound=0 claim_bound=0 trust=0"}},
	{"secure", overSecure + "mu=auto step=auto server_rule=normalized",
		[]string{"mu=0.001 mu_auto=off step=0.04 step_auto=off"}},
	{"secure", overSecure + "mu=auto", []string{"mu=0.001 mu_auto=off"}},
	{"secure", overSecure + "step=auto server_rule=normalized", []string{"step=0.04 step_auto=off"}},
	{"secure", overSecure + "eval_every=5 eval_count=1 metrics=[\"loss\"]",
		[]string{"eval_every=0"}},
	{"secure", overSecure + "dp_clip=1 dp_noise=1 dp_delta=1e-5 dp_by=coordinator",
		[]string{"dp_by=device dp_of=sum"}},
	{"quorum", overSecure + "quorum=2", []string{"quorum=3"}},
	{"target", overSecure + "members=5000 target=5000", []string{"target=4096"}},
	{"secure_lists", "secure_lists=agreed", []string{"secure_lists=believed"}},
	{"secure_lists", overSecure + "secure_lists=agreed", []string{"secure_lists=believed"}},
	{"secure_lists", overSecure + "secure_lists=agreed members=500 target=101 run_key= key_check=" +
		"c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0",
		[]string{"target=100 over_sample=1", "secure_lists=believed"}},
}
