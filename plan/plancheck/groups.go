package plancheck

// noClasses makes a plan whose devices send one list of scalars along the directions of all.
const noClasses = "classes=0 groups=none group_size=0 regroup=0 sharing=shared transport=mean"

// groupReasons are of plans whose devices share directions by groups.
var groupReasons = []reason{
	{
		field: "transport",
		what:  "transport=dense has no groups",
		why:   "devices send vectors there, which are averaged whatever their directions",
		do: "set transport=relay dense_keep=0, or sharing=shared groups=none group_size=0 " +
			"regroup=0",
	},
	{
		field: "roster",
		what:  "groups that are chosen by what devices are like need roster=dense",
		why:   "devices of an open roster have no slots by which an announcement could name them",
		do: "set groups=random group_size=5, or roster=dense, or sharing=shared transport=mean " +
			"groups=none group_size=0 regroup=0",
	},
	{
		field: "groups",
		what:  "sharing=groups needs a way to choose them, and nothing else has one",
		do: "set groups=random, groups=sketch or groups=auto, or sharing=shared " +
			"transport=mean group_size=0 regroup=0",
	},
	{
		field: "group_size",
		what:  "groups=random and groups=sketch need one, and other plans have none",
		do:    "set group_size=5, or in other plans group_size=0",
	},
	{
		field: "group_size",
		what:  "groups=auto has its own",
		why:   "it is 1 or all devices of a round",
		do:    "set group_size=0, or groups=random",
	},
	{
		field: "regroup",
		what:  "sharing=groups needs 1 or more, and nothing else has one",
		why:   "new groups are chosen after that many rounds",
		do:    "set regroup=10, or in other plans regroup=0",
	},
	{
		field: "target",
		what:  "groups that are chosen by what devices are like have at most 128 of them a round",
		why:   "an announcement names each of them",
		do: "set groups=random group_size=5, or lower target or over_sample, such as target=10 " +
			"over_sample=1",
	},
	{
		field: "target",
		what:  "the devices that a round asks do not fill its groups",
		why:   "it asks target*over_sample devices, in whole groups of group_size",
		do:    "choose a multiple, such as target=10 over_sample=1 group_size=5",
	},
	{
		field: "aggregator",
		what:  "groups=sketch and groups=auto need a mean",
		why:   "in a group, weights cancel differences; a group of one has nothing to choose from",
		do:    "set aggregator=weighted-mean trim=0 or aggregator=clipped-mean, or groups=random",
	},
	{
		field: "late",
		what:  "sharing=groups takes no late work",
		why:   "a late contribution is one device's, and a record has those of groups only",
		do:    "set late=0, or sharing=per-client groups=none group_size=0 regroup=0",
	},
	{
		field: "trim",
		what:  "it cuts off no device of a group",
		why:   "trim*group_size is below 1",
		do: "raise trim to 1/group_size or more, such as trim=0.25, or set aggregator=median " +
			"trim=0",
	},
	{
		field: "classes",
		what:  "secure=sum shows no scalars of a device",
		why:   "the coordinator weighs those of each class, which it must see for that",
		do:    "set " + noClasses + ", or " + noSecure,
	},
	{
		field: "classes",
		what:  "dp_clip hides no numbers of samples",
		why:   "a device sends how many it has of each class, to which no noise is added",
		do: "set " + noClasses +
			", or dp_clip=0 dp_noise=0 dp_by=device dp_delta=0 dp_of=device",
	},
	{
		field: "classes",
		what:  "it needs groups=sketch",
		why:   "groups are chosen by the classes that devices have",
		do:    "set sharing=groups groups=sketch group_size=5 regroup=10, or classes=0",
	},
	{
		field: "classes",
		what:  "it needs weights=equal",
		why:   "the scalars of a class count by the samples of it already",
		do:    "set weights=equal, or classes=0",
	},
	{
		field: "classes",
		what:  "one class has nothing to tell apart",
		do:    "set classes to the number of labels, such as classes=10, or classes=0",
	},
	{
		field: "classes",
		what:  "it needs steps=1",
		why:   "a second local step would follow the device's own classes",
		do:    "set steps=1, or classes=0",
	},
	{
		field: "classes",
		what:  "it needs aggregator=weighted-mean",
		why:   "each class of a device has a weight of its own",
		do:    "set aggregator=weighted-mean clip=0, or classes=0",
	},
	{
		field: "classes",
		what:  "the scalars of all classes do not fit a reply",
		do: "set precision=int8 max_scalar=65504, or fewer perturbations such as perturbations=20, " +
			"or classes=0",
	},
}
