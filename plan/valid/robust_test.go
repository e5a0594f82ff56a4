package valid_test

// refusedRobust has a plan for each refusal of section robust.
var refusedRobust = []refusedPlan{
	{"bound", "bound=0.5"},
	{"claim_bound", "claim_bound=0.5"},
	{"bound", "transport=dense dense_keep=2 bound=3"},
	{"trust", "trust=10 sharing=per-client transport=relay bound=3"},
	{"trust", "trust=10 bound=3 roster=open"},
	{"trust", "trust=10 bound=0"},
	{"trust", "trust=10 bound=3 control=scaffold-2"},
	{"trust", "trust=10 bound=3 late=4"},
	{"roots", `roots=["pi-1"]`},
	{"roots", `roots=["pi-1"] bound=1.5 trust=200 members=9 target=3 quorum=3`},
	{"liars", "liars=2 aggregator=trimmed-mean trim=0.4 sharing=groups transport=relay " +
		"groups=random group_size=5 regroup=1"},
	{"liars", "liars=2"},
	{"liars", `liars=2 aggregator=trimmed-mean trim=0.4 bound=1.5 trust=200 roots=["pi-1"]`},
	{"quorum", "liars=2 aggregator=trimmed-mean trim=0.4 quorum=4"},
	{"liars", "liars=2 aggregator=trimmed-mean trim=0.4 members=2000 target=1025"},
}
