package plancheck

var aggregateReasons = []reason{
	{"dense_keep", "transport=dense needs dense_keep of at least 2",
		"a device that comes late needs the last vector of each phase"},
	{"dense_keep", "it needs transport=dense",
		"other transports have no vectors beside their records"},
	{"dim", "transport=dense allows 16777216 numbers",
		"every device sends dim numbers a round, with control=scaffold-2 twice as many"},
	{"transport", "transport=dense cannot be private",
		"the coordinator sees every device's model, which a secret run key is to hide"},
	{"transport", "it needs pool=0",
		"a pool's state is its coefficients, and dense replaces x whole"},
	{"transport", "it excludes distribution=subspace",
		"the last moves span the subspace, and a device that catches up from the last vector saw " +
			"none of them"},
	{"server_rule", "transport=dense needs server_rule=mean",
		"other rules depend on every move of the run, and a device that catches up from the last " +
			"vector saw none of them"},
	{"aggregator", "transport=dense needs aggregator=weighted-mean",
		"only a mean can be summed as vectors arrive, without holding all of them"},
	{"precision", "transport=dense needs precision=single",
		"fewer bits would round the model itself"},
	{"transport", "it needs sharing=shared",
		"a scalar along one device's directions cannot be averaged with a scalar along another's"},
	{"transport", "it excludes sharing=shared",
		"with shared directions a replica uses only the mean of the scalars, and a record of means " +
			"does not grow with the fleet"},
	{"aggregator", "transport=relay needs a mean",
		"scalars along different directions cannot be ordered"},
	{"weights", "it excludes aggregator=median, aggregator=trimmed-mean",
		"a device that chooses its weight could outvote the others"},
	{"trim", "aggregator=trimmed-mean needs trim above 0 and below 0.5",
		"that share is cut off at either end"},
	{"trim", "it cuts off no contributor", "trim*target is below 1"},
	{"clip", "aggregator=clipped-mean needs clip above 0",
		"it is the largest length that a device's scalars may have"},
	{"max_scalar", "the scale of int8, int4 and int2 reaches to 65504",
		"that scale is a half, and beyond that a device could not send what it found"},
	{"precision", "int8, int4 and int2 need transport=relay",
		"a record of transport=mean has one list of scalars for all devices, and as a mean of many " +
			"numbers it is worth more bits than each of them"},
}
