package plancheck

// denseReasons explain refusals of choices that need transport=dense, or that it excludes.
var denseReasons = []reason{
	{
		field: "rule",
		what:  "rule=adam needs transport=dense",
		why:   "the mean of models that Adam moved is no function of mean scalars",
		do: "set transport=dense dense_keep=16, or rule=sgd beta=0 beta2=0 epsilon=0 with " +
			"server_rule=adam",
	},
	{
		field: "rule",
		what:  "rule=sign needs transport=dense",
		why:   "the mean of models that signs moved is no function of mean scalars",
		do: "set transport=dense dense_keep=16, or rule=sgd with server_rule=sign " +
			"server_step=0.001, which takes the sign of a round's mean move",
	},
	{
		field: "boxes",
		what:  "boxes need transport=dense",
		why:   "the mean of models that were kept in a box is no function of mean scalars",
		do: "set transport=dense dense_keep=16, which the presets fedzo-dense and fzoos have, " +
			"or boxes=[]",
	},
	{
		field: "estimator",
		what:  "estimator=surrogate needs transport=dense",
		why:   "its steps follow no seeded directions that others could regenerate",
		do:    "set transport=dense dense_keep=16, or start from another preset",
	},
	{
		field: "dense_keep",
		what:  "transport=dense needs 2 or more",
		why:   "a device that comes late needs the last vector of each phase",
		do:    "set dense_keep=16",
	},
	{
		field: "dense_keep",
		what:  "only transport=dense has it",
		why:   "other transports have no vectors beside their records",
		do:    "set transport=dense, or dense_keep=0",
	},
	{
		field: "dim",
		what:  "transport=dense allows 16777216 numbers",
		why:   "every device sends dim numbers a round, with control=scaffold-2 twice as many",
		do: "choose a smaller model, or dense_keep=0 transport=mean (transport=relay if " +
			"sharing=per-client)",
	},
	{
		field: "transport",
		what:  "transport=dense cannot be private",
		why:   "the coordinator sees every device's model, which a secret run key is to hide",
		do: "set a public run_key and no key_check, or dense_keep=0 transport=mean " +
			"(transport=relay if sharing=per-client)",
	},
	{
		field: "transport",
		what:  "transport=dense excludes a pool",
		why:   "a pool's state is its coefficients, and dense replaces x whole",
		do: "set pool=0 rebase=0, or dense_keep=0 transport=mean (transport=relay if " +
			"sharing=per-client)",
	},
	{
		field: "transport",
		what:  "transport=dense excludes distribution=subspace",
		why: "the last moves span the subspace, " +
			"and a device that catches up from the last vector saw none of them",
		do: "set distribution=normal subspace_moves=0 subspace_share=0, or dense_keep=0 " +
			"transport=mean (transport=relay if sharing=per-client)",
	},
	{
		field: "server_rule",
		what:  "transport=dense needs server_rule=mean",
		why: "other rules depend on every move of the run, and a device that catches up from the " +
			"last vector saw none of them",
		do: "set server_rule=mean and its numbers to 0, or dense_keep=0 transport=mean " +
			"(transport=relay if sharing=per-client)",
	},
	{
		field: "aggregator",
		what:  "transport=dense needs aggregator=weighted-mean",
		why:   "only a mean can be summed as vectors arrive, without holding all of them",
		do: "set aggregator=weighted-mean and its number to 0, or dense_keep=0 transport=mean " +
			"(transport=relay if sharing=per-client)",
	},
	{
		field: "precision",
		what:  "transport=dense needs precision=single",
		why:   "fewer bits would round the model itself",
		do: "set precision=single, or dense_keep=0 transport=mean (transport=relay if " +
			"sharing=per-client)",
	},
	{
		field: "max_scalar",
		what:  "it is below the largest end of a box",
		why: "parameters may reach the ends of their boxes, and vectors with larger elements are " +
			"refused",
		do: "raise max_scalar to the largest |low| or |high|, or shrink the boxes",
	},
	{
		field: "beta2",
		what:  "rule=adam needs one above 0 and below 1, other rules have none",
		do:    "set beta2=0.999, or beta2=0",
	},
	{
		field: "epsilon",
		what:  "rule=adam needs one above 0, other rules have none",
		do:    "set epsilon=1e-8, or epsilon=0",
	},
}
