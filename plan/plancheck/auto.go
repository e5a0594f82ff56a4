package plancheck

// autoReasons explain refusals of plans whose devices find a value.
var autoReasons = []reason{
	{
		field: "mu",
		what:  "probe distance in parameter units: choose 1e-18..1e+18",
		do:    "or set mu=auto, and devices find it",
	},
	{
		field: "step",
		what:  "eta, step size: choose 1e-18..1e+18",
		do:    "or set step=auto server_rule=normalized, and devices find it",
	},
	{
		field: "mu_auto",
		what:  "only estimator=differences has a mu to find",
		why:   "a surrogate probes no directions",
		do:    "set estimator=differences, or leave mu_auto out",
	},
	{
		field: "step_auto",
		what:  "step=auto needs server_rule=normalized",
		why:   "only there is a step a length that does not depend on the scale of the loss",
		do:    "set server_rule=normalized server_beta1=0.9 server_beta2=0.99, or step=0.001",
	},
	{
		field: "step_decay",
		what:  "step=auto has its own",
		why:   "the step that was found falls with the root of the rounds",
		do:    "set step_decay=constant, or step=0.04",
	},
	{
		field: "loss_unit",
		what:  "loss_unit needs server_rule=normalized",
		why:   "only there does a move not depend on how large scalars are",
		do:    "set loss_unit=0, or server_rule=normalized server_beta1=0.9 server_beta2=0.99",
	},
}
