package plancheck

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
		what:  "sharing=groups needs roster=dense",
		why:   "an announcement names the devices of a group by their slots",
		do: "set roster=dense, or sharing=shared transport=mean groups=none group_size=0 " +
			"regroup=0",
	},
	{
		field: "groups",
		what:  "sharing=groups needs a way to choose them, and nothing else has one",
		do: "set groups=random, groups=sketch or groups=auto, or sharing=shared " +
			"transport=mean group_size=0 regroup=0",
	},
	{
		field: "group_size",
		what:  "sharing=groups needs one, and nothing else has one",
		do:    "set group_size=5, or groups=auto, or group_size=0",
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
		do:    "set regroup=10, or regroup=0",
	},
	{
		field: "target",
		what:  "sharing=groups asks at most 128 devices a round",
		why:   "an announcement names each of them",
		do:    "lower target or over_sample, such as target=10 over_sample=1",
	},
	{
		field: "target",
		what:  "the devices that a round asks do not fill its groups",
		why:   "it asks target*over_sample devices, in groups of group_size",
		do:    "choose a multiple, such as target=10 over_sample=1 group_size=5",
	},
	{
		field: "aggregator",
		what:  "groups=sketch and groups=auto need a mean",
		why:   "in a group, weights cancel differences; a group of one has nothing to choose from",
		do:    "set aggregator=weighted-mean trim=0 or aggregator=clipped-mean, or groups=random",
	},
	{
		field: "weights",
		what:  "sharing=groups needs weights=equal",
		why:   "a record has the mean of each group, and all groups count the same",
		do:    "set weights=equal",
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
}
