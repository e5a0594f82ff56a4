package valid_test

// refusedLate has a plan for each refusal of late contributions.
var refusedLate = []refusedPlan{
	{"late", "late=4 transport=dense dense_keep=2"},
	{"late", "late=4 control=scaffold-2"},
	{"late", "late=4 distribution=subspace subspace_moves=3 subspace_share=0.5"},
	{"late", "late=4 aggregator=median"},
	{"late", "late=4 sharing=per-client transport=relay precision=int4 max_scalar=1"},
	{"async", "async=on"},
}
