package valid_test

const overGroups = "sharing=groups transport=relay groups=random group_size=5 regroup=10 " +
	"target=10 members=10 over_sample=1 "

// refusedGroups has a plan for each refusal of groups.
var refusedGroups = []refusedPlan{
	{"transport", overGroups + "transport=dense dense_keep=2",
		[]string{"transport=relay dense_keep=0"}},
	{"roster", overGroups + "roster=open", []string{"roster=dense"}},
	{"groups", overGroups + "groups=none", []string{"groups=random"}},
	{"group_size", overGroups + "group_size=0", []string{"group_size=5"}},
	{"group_size", overGroups + "groups=auto", []string{"group_size=0", "groups=random"}},
	{"regroup", overGroups + "regroup=0", []string{"regroup=10"}},
	{"target", overGroups + "target=130", []string{"target=10"}},
	{"target", overGroups + "target=9", []string{"target=10"}},
	{"aggregator", overGroups + "groups=sketch aggregator=median",
		[]string{"aggregator=weighted-mean", "groups=random"}},
	{"weights", overGroups + "weights=samples", []string{"weights=equal"}},
	{"late", overGroups + "late=4", []string{"late=0"}},
	{"trim", overGroups + "aggregator=trimmed-mean trim=0.1",
		[]string{"trim=0.25", "aggregator=median trim=0"}},
}
