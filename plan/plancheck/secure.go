package plancheck

// noSecure makes a plan without secure aggregation.
const noSecure = "secure=none secure_range=0"

// secureReasons are of plans with secure aggregation.
var secureReasons = []reason{
	{
		field: "secure_range",
		what:  "only secure=sum has it",
		why:   "scalars are cut to it so that their sum fits in 32 bits",
		do:    "set secure=sum, or secure_range=0",
	},
	{
		field: "secure",
		what:  "transport=dense sends vectors",
		why:   "a masked vector is as long as the model",
		do:    "set transport=mean sharing=shared dense_keep=0, or " + noSecure,
	},
	{
		field: "secure",
		what:  "transport=relay shows single contributions",
		why:   "the record has the scalars of each device, or of each group, which all read",
		do:    "set transport=mean sharing=shared, or " + noSecure,
	},
	{
		field: "secure",
		what:  "it needs roster=dense",
		why:   "devices make keys with each other, and must know who takes part",
		do:    "set roster=dense, or " + noSecure,
	},
	{
		field: "secure",
		what:  "it needs weights=equal",
		why:   "a sum of masked scalars counts each device once",
		do:    "set weights=equal, or " + noSecure,
	},
	{
		field: "secure",
		what:  "it needs aggregator=weighted-mean",
		why:   "medians, trimmed and clipped means need the scalars of each device",
		do:    "set aggregator=weighted-mean trim=0 clip=0, or " + noSecure,
	},
	{
		field: "secure",
		what:  "it needs control=none",
		why:   "the record groups control variates by the rounds that devices missed",
		do:    "set control=none, or " + noSecure,
	},
	{
		field: "secure",
		what:  "it takes no late work",
		why:   "masks cancel among the devices of one round only",
		do:    "set late=0 async=off, or " + noSecure,
	},
	{
		field: "secure",
		what:  "it excludes bound, claim_bound and trust",
		why:   "the coordinator sees no single contribution that it could cut",
		do:    "set bound=0 claim_bound=0 trust=0, or " + noSecure,
	},
	{
		field: "secure",
		what:  "mu=auto and step=auto send single losses",
		why:   "a survey would tell each device's losses, and a contribution its slope",
		do:    "set mu=0.001 mu_auto=off step=0.04 step_auto=off, or " + noSecure,
	},
	{
		field: "secure",
		what:  "mu=auto sends single losses",
		why:   "a survey would tell each device's losses",
		do:    "set mu=0.001 mu_auto=off, or " + noSecure,
	},
	{
		field: "secure",
		what:  "step=auto sends single losses",
		why:   "a survey would tell each device's losses, and a contribution its slope",
		do:    "set step=0.04 step_auto=off, or " + noSecure,
	},
	{
		field: "secure",
		what:  "evaluations send single metrics",
		why:   "they would tell how well the model fits each device's data",
		do:    "set eval_every=0, and measure the model where its test data are",
	},
	{
		field: "secure",
		what:  "dp_by=coordinator cuts single contributions",
		why:   "the coordinator sees none",
		do:    "set dp_by=device dp_of=sum, or " + noSecure,
	},
	{
		field: "quorum",
		what:  "secure=sum needs 3 or more",
		why:   "of a sum of two, each knows the other's part",
		do:    "set quorum=3, and have 3 devices or more",
	},
	{
		field: "target",
		what:  "secure=sum asks at most 4096 devices",
		why:   "the more are summed, the fewer levels a scalar has",
		do:    "set target=4096 over_sample=1",
	},
	{
		field: "secure_lists",
		what:  "only secure=sum has lists",
		why:   "without masks there is nothing to agree on",
		do:    "set secure=sum, or secure_lists=believed",
	},
	{
		field: "secure_lists",
		what:  "devices agree by a secret",
		why:   "without one a coordinator can speak for any of them, and tags prove nothing",
		do:    "make the plan with --secret, or set secure_lists=believed",
	},
	{
		field: "secure_lists",
		what:  "at most 100 devices agree",
		why:   "in larger rounds a device knows the lists of its neighbors alone",
		do:    "set target=100 over_sample=1, or secure_lists=believed",
	},
}
