package valid_test

// refusedLate has a plan for each refusal of late work.
var refusedLate = []refusedPlan{
	{"late", "late=4 transport=dense dense_keep=2",
		[]string{"late=0", "sharing=shared transport=mean dense_keep=0"}},
	{"late", "late=4 control=scaffold-2", []string{"control=none", "late=0"}},
	{"late", "late=4 distribution=subspace subspace_moves=3 subspace_share=0.5",
		[]string{"late=0"}},
	{"late", "late=4 aggregator=median",
		[]string{"aggregator=weighted-mean", "late=0"}},
	{"late", "late=4 sharing=per-client transport=relay precision=int4 max_scalar=1",
		[]string{"precision=half", "late=0"}},
	{"async", "async=on", []string{"late=4", "async=off"}},
}
