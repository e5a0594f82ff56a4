package valid_test

const overGroups = "sharing=groups transport=relay groups=random group_size=5 regroup=10 " +
	"target=10 members=10 over_sample=1 "

const noClasses = "classes=0 groups=none group_size=0 regroup=0 sharing=shared transport=mean"

const overClasses = overGroups + "groups=sketch steps=1 classes=10 "

// refusedGroups has a plan for each refusal of groups.
var refusedGroups = []refusedPlan{
	{"transport", overGroups + "transport=dense dense_keep=2",
		[]string{"transport=relay dense_keep=0"}},
	{"roster", overGroups + "groups=sketch roster=open",
		[]string{"roster=dense", "groups=random group_size=5",
			"sharing=shared transport=mean groups=none group_size=0 regroup=0"}},
	{"groups", overGroups + "groups=none", []string{"groups=random"}},
	{"group_size", overGroups + "group_size=0", []string{"group_size=5"}},
	{"group_size", overGroups + "groups=auto", []string{"group_size=0", "groups=random"}},
	{"regroup", overGroups + "regroup=0", []string{"regroup=10"}},
	{"target", overGroups + "groups=sketch target=130 members=130",
		[]string{"target=10", "groups=random group_size=5"}},
	{"target", overGroups + "target=9", []string{"target=10"}},
	{"aggregator", overGroups + "groups=sketch aggregator=median",
		[]string{"aggregator=weighted-mean", "groups=random"}},
	{"late", overGroups + "late=4", []string{"late=0"}},
	{"trim", overGroups + "aggregator=trimmed-mean trim=0.1",
		[]string{"trim=0.25", "aggregator=median trim=0"}},
	{"classes", overClasses + overSecure, []string{noClasses, "secure=none secure_range=0"}},
	{"classes", overClasses + overNoise,
		[]string{noClasses, "dp_clip=0 dp_noise=0 dp_by=device dp_delta=0 dp_of=device"}},
	{"classes", overGroups + "classes=10", []string{"groups=sketch", "classes=0"}},
	{"classes", overClasses + "weights=samples", []string{"weights=equal", "classes=0"}},
	{"classes", overClasses + "classes=1", []string{"classes=10", "classes=0"}},
	{"classes", overClasses + "steps=3", []string{"steps=1", "classes=0"}},
	{"classes", overClasses + "aggregator=clipped-mean clip=1",
		[]string{"aggregator=weighted-mean clip=0", "classes=0"}},
	{"classes", overClasses + "perturbations=1500", []string{"precision=int8 max_scalar=65504",
		"perturbations=20", "classes=0"}},
}
