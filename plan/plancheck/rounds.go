package plancheck

var roundsReasons = []reason{
	{"close", "it needs async=off",
		"an asynchronous round closes as soon as it has target contributions, late ones among them"},
	{"cohort", "only control=scaffold-1 and svrg keep a cohort",
		"the phases of other rounds do not correct each other's devices"},
}
