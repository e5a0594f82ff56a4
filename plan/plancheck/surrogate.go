package plancheck

// surrogateReasons explain refusals that concern estimator=surrogate.
var surrogateReasons = []reason{
	{
		field: "control",
		what:  "estimator=surrogate has a correction of its own",
		do:    "set control=none",
	},
	{
		field: "perturbations",
		what:  "estimator=surrogate probes no directions",
		why:   "active and around count its queries",
		do:    "set perturbations=1 perturbation_schedule=[]",
	},
	{
		field: "sharing",
		what:  "estimator=surrogate probes no directions",
		do:    "set sharing=shared",
	},
	{
		field: "prior",
		what:  "only estimator=surrogate has it",
		do:    "set estimator=surrogate, or prior=mean",
	},
	{
		field: "length_fit",
		what:  "only estimator=surrogate has it",
		do:    "set estimator=surrogate, or length_fit=off",
	},
	{
		field: "correction",
		what:  "only estimator=surrogate has it",
		do:    "set estimator=surrogate, or correction=inverse",
	},
	{
		field: "correction_at",
		what:  "only estimator=surrogate has it",
		do:    "set estimator=surrogate, or correction_at=iterate",
	},
	{
		field: "candidates",
		what:  "only estimator=surrogate has it",
		do:    "set estimator=surrogate, or candidates=0",
	},
	{
		field: "features",
		what:  "estimator=surrogate needs some, other estimators have none",
		do:    "set features=10000, as FZooS does, or features=0",
	},
	{
		field: "features",
		what:  "features*dim is limited to 268435456",
		why:   "every device holds that many numbers in memory",
		do:    "set features=1000 or so, or start from another preset",
	},
	{
		field: "length_scale",
		what:  "estimator=surrogate needs one above 0, other estimators have none",
		do:    "set length_scale=1, as FZooS does in boxes, or length_scale=0",
	},
	{
		field: "noise",
		what:  "estimator=surrogate needs some, other estimators have none",
		do:    "set noise=1e-6 for losses that repeat exactly, or noise=0",
	},
	{
		field: "window",
		what:  "estimator=surrogate needs 2 or more",
		why:   "one loss shows no slope",
		do:    "set window=300",
	},
	{
		field: "window",
		what:  "only estimator=surrogate has it",
		do:    "set estimator=surrogate, or window=0",
	},
	{
		field: "active",
		what:  "it is above candidates",
		why:   "the queries at an iterate are chosen among the candidates",
		do:    "set active to candidates or less; FZooS has active=5 candidates=100 radius=0.01",
	},
	{
		field: "around",
		what:  "it is above candidates",
		why:   "the queries at a round's x are chosen among the candidates",
		do:    "set around to candidates or less, such as around=5 candidates=100 radius=0.01",
	},
	{
		field: "radius",
		what:  "candidates need one above 0, and without candidates there is none",
		why:   "candidates are drawn from a cube of this half side",
		do:    "set radius=0.01, as FZooS does in boxes, or radius=0",
	},
	{
		field: "active",
		what:  "estimator=surrogate needs active or around above 0",
		why:   "one loss at a time shows no slope",
		do:    "set active=5, or around above 0, with candidates and radius",
	},
	{
		field: "heterogeneity",
		what:  "correction=theory needs G above 0, other corrections have none",
		do:    "set heterogeneity, or heterogeneity=0",
	},
}
