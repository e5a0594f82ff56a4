package plancheck

// autoReasons explain refusals of plans whose devices find a value.
var autoReasons = []reason{
	{
		field: "mu_auto",
		what:  "only estimator=differences has a mu to find",
		why:   "a surrogate probes no directions",
		do:    "set estimator=differences, or leave mu_auto out",
	},
}
