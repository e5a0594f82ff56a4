package plancheck

// noiseReasons are of plans with differential privacy.
var noiseReasons = []reason{
	{
		field: "dp_clip",
		what:  "dp_noise, dp_by and dp_delta need it",
		why:   "noise is measured by the length to which scalars are cut",
		do:    "set dp_clip=1, or dp_noise=0 dp_by=device dp_delta=0",
	},
	{
		field: "dp_clip",
		what:  "it is below 1e-9",
		why:   "the grid of the scalars would be finer than their numbers",
		do:    "set dp_clip=1",
	},
	{
		field: "dp_noise",
		what:  "beside dp_clip it must be 0.01 or more",
		why:   "cutting to dp_clip hides nothing without noise, and less noise hides next to nothing",
		do:    "set dp_noise=1, or dp_clip=0 dp_by=device dp_delta=0",
	},
	{
		field: "dp_delta",
		what:  "beside dp_clip it must be above 0 and below 1",
		why:   "the reported epsilon holds but for that probability",
		do:    "set dp_delta=1e-5",
	},
	{
		field: "dp_clip",
		what:  "transport=dense sends vectors",
		why:   "their noise would be as large as the model, and none is added",
		do: "set transport=mean sharing=shared dense_keep=0, or " +
			"dp_clip=0 dp_noise=0 dp_by=device dp_delta=0",
	},
	{
		field: "dp_clip",
		what:  "transport=relay shows single contributions",
		why:   "all would see what each device sends, and noise of one is far more than noise of a mean",
		do: "set transport=mean sharing=shared, or dp_clip=0 dp_noise=0 " +
			"dp_by=device dp_delta=0",
	},
	{
		field: "dp_clip",
		what:  "it needs weights=equal",
		why:   "samples are counted without noise, and a heavy device would count for more than dp_clip",
		do:    "set weights=equal",
	},
	{
		field: "dp_clip",
		what:  "it needs aggregator=weighted-mean",
		why:   "noise is measured by what one device changes of a mean",
		do:    "set aggregator=weighted-mean trim=0 clip=0",
	},
	{
		field: "dp_clip",
		what:  "it needs control=none",
		why:   "control variates are a second list of scalars, without noise",
		do:    "set control=none",
	},
	{
		field: "dp_clip",
		what:  "it takes no late work",
		why:   "a round would have terms of other rounds, whose lengths add up",
		do:    "set late=0 async=off",
	},
	{
		field: "dp_clip",
		what:  "it excludes bound, claim_bound and trust",
		why:   "a device would change how far others are cut",
		do:    "set bound=0 claim_bound=0 trust=0",
	},
	{
		field: "dp_clip",
		what:  "mu=auto and step=auto send losses without noise",
		do:    "set mu=0.001 mu_auto=off step=0.04 step_auto=off",
	},
	{
		field: "dp_clip",
		what:  "mu=auto sends losses without noise",
		do:    "set mu=0.001 mu_auto=off",
	},
	{
		field: "dp_clip",
		what:  "step=auto sends losses without noise",
		do:    "set step=0.04 step_auto=off",
	},
	{
		field: "dp_clip",
		what:  "diverge looks at losses without noise",
		why:   "whether a run pauses would tell about them",
		do:    "set diverge=0",
	},
	{
		field: "dp_clip",
		what:  "stop_metric looks at metrics without noise",
		why:   "when a run ends would tell about them",
		do:    "leave stop_metric out, and set rounds",
	},
	{
		field: "dp_clip",
		what:  "evaluations send metrics without noise",
		why:   "the coordinator is among those from whom dp_by=device hides",
		do: "set eval_every=0, and measure the model where its test data " +
			"are; or set dp_by=coordinator",
	},
	{
		field: "dp_of",
		what:  "dp_of=sum needs secure=sum",
		why:   "a share of the noise hides a device in a sum, and not by itself",
		do:    "set secure=sum, or dp_of=device",
	},
	{
		field: "max_scalar",
		what:  "it is below dp_clip and 8 times its noise",
		why:   "scalars of honest devices would be refused for their noise",
		do:    "raise max_scalar, or lower dp_clip or dp_noise",
	},
}
