package plancheck

var robustReasons = []reason{
	{"bound", "it is below the median", "half of all honest contributions would be cut"},
	{"claim_bound", "it is below the median", "half of all honest claims would be cut"},
	{"bound", "it excludes transport=dense",
		"the elements of a vector have no length in common; max_scalar bounds each"},
	{"trust", "it needs transport=mean",
		"scalars along different directions do not say whether two devices agree"},
	{"trust", "it needs roster=dense", "a device is known by its slot from round to round"},
	{"trust", "it needs bound above 0",
		"a device that was trusted could ruin the model with one large contribution"},
	{"trust", "it needs control=none",
		"the variates of a device that no longer counts would stay in the model"},
	{"trust", "it needs late=0", "the others' scalars of an earlier round are gone"},
	{"roots", "it needs trust above 0", "without it nobody has to agree with them"},
	{"roots", "they must be asked in each round",
		"a round without a root's contribution does not close"},
}
