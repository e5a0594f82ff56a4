package plancheck

var serverReasons = []reason{
	{"server_beta1", "server_rule=momentum needs server_beta1 above 0",
		"with 0 it is server_rule=sgd"},
	{"server_epsilon", "this server rule needs one above 0",
		"the move is divided by the root of it and the second moment, which can be 0"},
	{"server_rule", "it needs steps=1",
		"the rule divides a round's mean estimate by the size of its scalars, and after a second " +
			"local step those belong to other points"},
	{"server_rule", "it needs rule=sgd",
		"the rule has a momentum of its own, of the round's mean estimate"},
	{"server_rule", "it needs weight_decay=0",
		"weight decay would be added to the estimate and divided with it"},
	{"server_rule", "it needs control=none",
		"a correction is no part of the scalars whose size the rule divides by"},
	{"server_rule", "it excludes distribution=subspace",
		"the mean of squared scalars estimates |gradient|^2 only along directions that favor none"},
	{"step_auto", "it needs server_rule=normalized",
		"only there is a step a length that does not depend on the scale of the loss"},
	{"step_decay", "step_auto needs step_decay=constant",
		"the step that was found falls with the root of the rounds"},
	{"loss_unit", "it needs server_rule=normalized",
		"only there does a move not depend on how large scalars are"},
}
