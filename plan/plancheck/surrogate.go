package plancheck

var surrogateReasons = []reason{
	{"estimator", "it needs transport=dense",
		"its steps follow no seeded directions that others could regenerate"},
	{"perturbations", "estimator=surrogate probes no directions",
		"active and around count its queries"},
	{"distribution", "estimator=surrogate excludes distribution=lowrank",
		"a surrogate probes no directions"},
	{"features", "features*dim is limited to 268435456",
		"every device holds that many numbers in memory"},
	{"window", "estimator=surrogate needs window above 1", "one loss shows no slope"},
	{"active", "it is above candidates",
		"the queries at an iterate are chosen among the candidates"},
	{"around", "it is above candidates",
		"the queries at a round's x are chosen among the candidates"},
	{"radius", "it needs candidates above 0", "candidates are drawn from a cube of this half side"},
	{"active", "estimator=surrogate needs active or around above 0",
		"one loss at a time shows no slope"},
	{"mu_auto", "estimator=surrogate excludes mu=auto", "a surrogate probes no directions"},
}
