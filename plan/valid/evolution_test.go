package valid_test

// overCMA changes a plan of decomfl into one of server_rule=cma.
const overCMA = "server_rule=cma difference=none mu=0 "

var refusedEvolution = []refusedPlan{
	{"difference", "server_rule=cma"},
	{"difference", "difference=none mu=0"},
	{"mu", overCMA + "mu=0.001"},
	{"mu_auto", overCMA + "mu=auto"},
	{"transport", overCMA + "sharing=groups groups=random group_size=5 regroup=10 transport=relay"},
	{"sharing", overCMA + "sharing=per-client transport=mean"},
	{"distribution", overCMA + "distribution=rademacher"},
	{"steps", overCMA + "steps=2"},
	{"rule", overCMA + "rule=momentum beta=0.9"},
	{"weight_decay", overCMA + "weight_decay=0.1"},
	{"control", overCMA + "control=scaffold-1"},
	{"late", overCMA + "late=4"},
	{"step_decay", overCMA + "step_decay=inverse-sqrt"},
	{"perturbation_schedule", overCMA + `perturbation_schedule=[{"round":9,"perturbations":20}]`},
	{"perturbations", overCMA + "perturbations=3"},
	{"covariance", overCMA + "dim=1001"},
	{"covariance", "covariance=limited"},
	{"perturbations_auto", "perturbations_auto=on"},
	{"restarts", "restarts=3"},
}
