package plancheck

var lateReasons = []reason{
	{"late", "it excludes transport=dense",
		"devices send whole models there, and a model made from an older x cannot be averaged with " +
			"the others"},
	{"late", "it needs control=none",
		"terms along older records are control variates there, and a device's control variate is the " +
			"contribution that its own round counted"},
	{"late", "it excludes distribution=subspace",
		"a late contribution lies along directions in a subspace that is gone"},
	{"late", "it excludes aggregator=median, aggregator=trimmed-mean",
		"a median compares scalars along the same directions, and late ones are along others"},
	{"late", "it needs precision=single or precision=half",
		"P may have been another in an older round, and the length of late scalars of few bits does " +
			"not say which"},
	{"async", "it needs late above 0", "with late=0 only contributions to the open record count"},
	{"late", "it excludes sharing=groups",
		"a late contribution is one device's, and a record has those of groups only"},
}
