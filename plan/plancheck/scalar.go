package plancheck

// scalarReasons explain refusals of plans whose devices send scalars, and those for all
// transports.
var scalarReasons = []reason{
	{
		field: "transport",
		what:  "transport=mean needs sharing=shared",
		why: "a scalar along one device's directions cannot be averaged with a scalar along " +
			"another's",
		do: "set transport=relay or transport=dense, or sharing=shared",
	},
	{
		field: "transport",
		what:  "transport=relay needs sharing=per-client",
		why: "with shared directions a replica uses only the mean of the scalars, " +
			"and a record of means does not grow with the fleet",
		do: "set transport=mean, or sharing=per-client",
	},
	{
		field: "roster",
		what:  "sharing=per-client needs roster=dense",
		why: "a device's own directions derive from its slot, " +
			"and an open roster assigns no slots",
		do: "set roster=dense, or sharing=shared with transport=mean or transport=dense",
	},
	{
		field: "subspace_moves",
		what:  "distribution=subspace needs 1 or more",
		why:   "that many of the last moves span the subspace",
		do:    "set subspace_moves=5, as ZOFedHT does",
	},
	{
		field: "subspace_share",
		what:  "distribution=subspace needs a share above 0 and below 1",
		why:   "0 is distribution=normal, and at 1 no direction would leave the subspace",
		do:    "set subspace_share=0.5",
	},
	{
		field: "subspace_moves",
		what:  "only distribution=subspace has it",
		do:    "set distribution=subspace, or subspace_moves=0",
	},
	{
		field: "subspace_share",
		what:  "only distribution=subspace has it",
		do:    "set distribution=subspace, or subspace_share=0",
	},
	{
		field: "pool",
		what:  "a pool needs 2 or more directions",
		why:   "with one direction the model moves on a line",
		do:    "set pool=4096, as FedKSeed does, or pool=0 rebase=0 for no pool",
	},
	{
		field: "rebase",
		what:  "a pool needs it",
		why:   "after that many rounds x is recomputed from the pool's coefficients",
		do:    "set rebase=64",
	},
	{
		field: "rebase",
		what:  "only a pool has it",
		do:    "set pool, or rebase=0",
	},
	{
		field: "pool",
		what:  "a pool needs sharing=shared",
		why:   "all devices draw their directions from the same pool",
		do:    "set sharing=shared transport=mean, or pool=0 rebase=0",
	},
	{
		field: "pool",
		what:  "a pool excludes distribution=subspace",
		why:   "the subspace moves, so its directions never repeat",
		do:    "choose another distribution, or pool=0 rebase=0",
	},
	{
		field: "pool",
		what:  "a pool needs server_rule=mean",
		why: "most server rules act element by element, after which x is no sum of coefficients " +
			"times directions",
		do: "set server_rule=mean, or pool=0 rebase=0",
	},
	{
		field: "pool",
		what:  "a pool needs control=none",
		why:   "control variates would double the coefficients at every step",
		do:    "set control=none, or pool=0 rebase=0",
	},
	{
		field: "pool",
		what:  "a pool with decay or prox needs equal step scales",
		why:   "each segment would need coefficients of its own",
		do:    "drop weight_decay and prox, or the segments' step_scale, or set pool=0 rebase=0",
	},
	{
		field: "beta",
		what:  "rule=sgd has no momentum",
		do:    "set beta=0, or rule to momentum, torch-momentum or adam",
	},
	{
		field: "beta",
		what:  "rule=sign has no momentum",
		do:    "set beta=0, or rule to momentum, torch-momentum or adam",
	},
	{
		field: "beta",
		what:  "this rule needs a momentum factor above 0 and below 1",
		do:    "set beta=0.9, or rule=sgd beta=0",
	},
	{
		field: "prox",
		what:  "prox needs steps above 1",
		why:   "the only step starts at the point that prox pulls to, so there is no pull",
		do:    "set steps=2 or more, or prox=0",
	},
	{
		field: "control",
		what:  "control variates need sharing=shared or transport=dense",
		why:   "a device's own control variate would have to be relayed with its scalars",
		do:    "set sharing=shared transport=mean, or transport=dense, or control=none",
	},
	{
		field: "control",
		what:  "scaffold-2 excludes distribution=subspace",
		why:   "a control variate lies along directions of an older record, whose subspace is gone",
		do:    "choose another distribution, or control=scaffold-1 or control=none",
	},
	{
		field: "control",
		what:  "scaffold-2 needs roster=dense or transport=dense",
		why:   "a record has to name its contributors, and an open roster does not know them",
		do:    "set roster=dense, or transport=dense, or control=scaffold-1 or control=none",
	},
	{
		field: "control",
		what:  "scaffold-2 needs weights=equal or transport=dense",
		why:   "c is the mean over all devices, and nobody knows all their sample counts",
		do:    "set weights=equal, or transport=dense, or control=scaffold-1 or control=none",
	},
	{
		field: "control",
		what:  "control variates need aggregator=weighted-mean",
		why:   "corrections cancel only if they and the scalars are both averaged",
		do:    "set aggregator=weighted-mean, or control=none",
	},
	{
		field: "control",
		what:  "control=svrg needs steps above 1",
		why:   "the first step of a round moves along the first phase's estimate alone",
		do:    "set steps=2 or more, or control=none",
	},
	{
		field: "cohort",
		what:  "only control=scaffold-1 and svrg keep a cohort",
		why:   "the phases of other rounds do not correct each other's devices",
		do:    "set cohort=record, or control=scaffold-1 or control=svrg",
	},
	{
		field: "server_step",
		what:  "every server rule but mean and normalized needs one above 0, and these have none",
		do: "set both or neither: ZO-AdaFL has server_rule=amsgrad server_step=0.02, " +
			"server_rule=sgd server_step=1 is the same as server_rule=mean, and " +
			"server_rule=normalized takes its step from step",
	},
	{
		field: "server_beta1",
		what:  "rules with a moment, which mean, sgd and sign lack, need 0 or more, below 1; others none",
		do:    "set server_beta1=0.9, or server_beta1=0",
	},
	{
		field: "server_beta1",
		what:  "server_rule=momentum needs one above 0",
		why:   "with 0 it is server_rule=sgd",
		do:    "set server_beta1=0.9, or server_rule=sgd",
	},
	{
		field: "server_beta2",
		what:  "adam, amsgrad, yogi, normalized need 0 or more, below 1; others have none",
		do:    "set server_beta2=0.99, or server_beta2=0",
	},
	{
		field: "server_epsilon",
		what:  "adam, amsgrad, yogi and adagrad need one above 0, other rules have none",
		why:   "the move is divided by the root of it and the second moment, which can be 0",
		do:    "set server_epsilon=1e-8, as ZO-AdaFL does, or server_epsilon=0",
	},
	{
		field: "server_v0",
		what:  "only adam, amsgrad, yogi and adagrad have a second moment",
		do:    "set server_v0=0",
	},
	{
		field: "server_decay",
		what:  "only server_rule=normalized has it",
		do:    "set server_decay=0, or server_rule=normalized; weight_decay serves the other rules",
	},
	{
		field: "server_rule",
		what:  "server_rule=normalized needs steps=1",
		why: "the rule divides a round's mean estimate by the size of its scalars, and after a " +
			"second local step those belong to other points",
		do: "set steps=1, or server_rule=mean with no server_beta1, server_beta2, server_decay",
	},
	{
		field: "server_rule",
		what:  "server_rule=normalized needs rule=sgd",
		why:   "the rule has a momentum of its own, of the round's mean estimate",
		do:    "set rule=sgd beta=0 and server_beta1=0.9",
	},
	{
		field: "server_rule",
		what:  "server_rule=normalized excludes weight_decay",
		why:   "weight decay would be added to the estimate and divided with it",
		do:    "set weight_decay=0, and server_decay instead: x shrinks by server_decay times step",
	},
	{
		field: "server_rule",
		what:  "server_rule=normalized needs control=none",
		why:   "a correction is no part of the scalars whose size the rule divides by",
		do:    "set control=none, or another server_rule",
	},
	{
		field: "server_rule",
		what:  "server_rule=normalized excludes distribution=subspace",
		why: "the mean of squared scalars estimates |gradient|^2 only along directions that " +
			"favor none",
		do: "set distribution=rademacher subspace_moves=0 subspace_share=0, or another server_rule",
	},
	{
		field: "rounds",
		what:  "step_decay=cosine needs rounds",
		why:   "it ends after so many rounds",
		do:    "set rounds=1000 or so, or step_decay=slow-sqrt, which has no end",
	},
	{
		field: "floor",
		what:  "only step_decay=cosine has it",
		do:    "set step_decay=cosine, or floor=0",
	},
	{
		field: "aggregator",
		what:  "transport=relay needs a mean",
		why:   "scalars along different directions cannot be ordered",
		do: "set aggregator=weighted-mean or aggregator=clipped-mean, or sharing=shared " +
			"transport=mean",
	},
	{
		field: "weights",
		what:  "median and trimmed-mean need weights=equal",
		why:   "a device that chooses its weight could outvote the others",
		do:    "set weights=equal, or aggregator=weighted-mean or aggregator=clipped-mean",
	},
	{
		field: "trim",
		what:  "trimmed-mean needs a share above 0 and below 0.5, other aggregators have none",
		why:   "it is cut off at either end",
		do:    "set trim=0.1, or trim=0",
	},
	{
		field: "trim",
		what:  "it cuts off no contributor",
		why:   "trim*target is below 1",
		do:    "raise trim to 1/target or more, raise target, or set aggregator=median trim=0",
	},
	{
		field: "clip",
		what:  "clipped-mean needs one above 0, other aggregators have none",
		why:   "it is the largest length that a device's scalars may have",
		do:    "set clip and aggregator=clipped-mean, or clip=0",
	},
	{
		field: "max_scalar",
		what:  "precision=half reaches to 65504",
		do:    "set max_scalar=65504 or less, or precision=single",
	},
	{
		field: "max_scalar",
		what:  "the scale of int8, int4 and int2 reaches to 65504",
		why:   "it is a half, and beyond that a device could not send what it found",
		do:    "set max_scalar=65504 or less, or precision=single",
	},
	{
		field: "precision",
		what:  "int8, int4 and int2 need transport=relay",
		why: "a record of transport=mean has one list of scalars for all devices, and as a mean " +
			"of many numbers it is worth more bits than each of them",
		do: "set precision=half, or sharing=per-client transport=relay",
	},
}
