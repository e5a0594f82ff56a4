package plancheck

var localReasons = []reason{
	{"rule", "it needs transport=dense",
		"the mean of models that Adam moved is no function of mean scalars"},
	{"rule", "rule=sign needs transport=dense",
		"the mean of models that signs moved is no function of mean scalars"},
	{"prox", "it needs steps above 1",
		"the only step starts at the point that prox pulls to, so there is no pull"},
	{"control", "it needs sharing=shared",
		"a device's own control variate would have to be relayed with its scalars"},
	{"control", "it excludes distribution=subspace",
		"a control variate lies along directions of an older record, whose subspace is gone"},
	{"control", "it needs roster=dense",
		"a record has to name its contributors, and an open roster does not know them"},
	{"control", "it needs weights=equal",
		"c is the mean over all devices, and nobody knows all their sample counts"},
	{"control", "it needs aggregator=weighted-mean",
		"corrections cancel only if they and the scalars are both averaged"},
	{"control", "it needs steps above 1",
		"the first step of a round moves along the first phase's estimate alone"},
	{"rounds", "step_decay=cosine needs rounds above 0", "the decay ends after so many rounds"},
}
