package plancheck

// autoReasons explain refusals of plans whose devices find a value.
var autoReasons = []reason{
	{field: "mu",
		what: "probe distance in parameter units: choose 1e-18..1e+18",
		do:   "or set mu=auto, and devices find it"},
	{field: "step",
		what: "eta, step size: choose 1e-18..1e+18",
		do:   "or set step=auto server_rule=normalized, and devices find it"},
	{field: "mu_auto",
		what: "only estimator=differences has a mu to find",
		why:  "a surrogate probes no directions"},
	{field: "step_auto",
		what: "step=auto needs server_rule=normalized",
		why:  "only there is a step a length that does not depend on the scale of the loss"},
	{field: "step_decay",
		what: "step=auto has its own",
		why:  "the step that was found falls with the root of the rounds"},
	{field: "loss_unit",
		what: "loss_unit needs server_rule=normalized",
		why:  "only there does a move not depend on how large scalars are"},
}
