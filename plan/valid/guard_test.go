package valid_test

// refusedGuard has a plan for each refusal of limits on one device.
var refusedGuard = []refusedPlan{
	{"bound", "bound=0.5", []string{"bound=4", "bound=0"}},
	{"claim_bound", "claim_bound=0.5", []string{"claim_bound=4", "claim_bound=0"}},
	{"bound", "transport=dense dense_keep=2 bound=3", []string{"bound=0"}},
	{"trust", "trust=10 sharing=per-client transport=relay bound=3", []string{"trust=0"}},
	{"trust", "trust=10 bound=3 roster=open", []string{"roster=dense", "trust=0"}},
	{"trust", "trust=10 bound=0", []string{"bound=2", "trust=0"}},
	{"trust", "trust=10 bound=3 control=scaffold-2", []string{"trust=0"}},
	{"trust", "trust=10 bound=3 late=4", []string{"trust=0"}},
	{"roots", `roots=["pi-1"]`, []string{"bound=1.5 trust=200", "roots=[]"}},
	{"roots", `roots=["pi-1"] bound=1.5 trust=200 members=9 target=3 quorum=3`,
		[]string{"members=3", "roots=[]"}},
}
