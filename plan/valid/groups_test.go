package valid_test

const overGroups = "sharing=groups transport=relay groups=random group_size=5 regroup=10 " +
	"target=10 members=10 over_sample=1 "

const noClasses = "classes=0 groups=none group_size=0 regroup=0 sharing=shared transport=mean"

const overClasses = overGroups + "groups=sketch steps=1 classes=10 "

// refusedGroups has a plan for each refusal of groups.
var refusedGroups = []refusedPlan{
	{"transport", overGroups + "transport=dense dense_keep=2"},
	{"roster", overGroups + "groups=sketch roster=open"},
	{"groups", overGroups + "groups=none"},
	{"group_size", overGroups + "group_size=0"},
	{"group_size", overGroups + "groups=auto"},
	{"regroup", overGroups + "regroup=0"},
	{"target", overGroups + "groups=sketch target=130 members=130"},
	{"target", overGroups + "target=9"},
	{"aggregator", overGroups + "groups=sketch aggregator=median"},
	{"late", overGroups + "late=4"},
	{"trim", overGroups + "aggregator=trimmed-mean trim=0.1"},
	{"classes", overClasses + overSecure},
	{"classes", overClasses + overNoise},
	{"classes", overGroups + "classes=10"},
	{"classes", overClasses + "weights=samples"},
	{"classes", overClasses + "classes=1"},
	{"classes", overClasses + "steps=3"},
	{"classes", overClasses + "aggregator=clipped-mean clip=1"},
	{"classes", overClasses + "perturbations=1500"},
}
