package plancheck

var roundsReasons = []reason{
	{"cohort", "only control=scaffold-1 and svrg keep a cohort",
		"the phases of other rounds do not correct each other's devices"},
}
