package plancheck

// lateReasons explain refusals of plans that let late contributions count.
var lateReasons = []reason{
	{field: "late",
		what: "transport=dense takes no late work",
		why: "devices send whole models there, and a model made from an older x cannot be " +
			"averaged with the others"},
	{field: "late",
		what: "late work needs control=none",
		why: "terms along older records are control variates there, and a device's control " +
			"variate is the contribution that its own round counted"},
	{field: "late",
		what: "late work excludes distribution=subspace",
		why:  "a late contribution lies along directions in a subspace that is gone"},
	{field: "late",
		what: "late work needs a mean",
		why: "a median compares scalars along the same directions, and late ones are along " +
			"others"},
	{field: "late",
		what: "late work needs precision=single or precision=half",
		why: "P may have been another in an older round, and the length of late scalars of few " +
			"bits does not say which"},
	{field: "async",
		what: "it needs late above 0",
		why:  "with late=0 only contributions to the open record count"},
}
