package valid

import (
	"slices"

	"github.com/zofl/zofl/plan"
)

var serverRules = slices.Concat([]rule{
	{when: "server_step", needs: serverSteps, what: "this server rule has none"},
	{when: serverSteps, needs: "server_step>0", at: "server_step",
		what: "this server rule needs one above 0"},
	{when: "server_beta1", needs: "server_beta1<1"},
	{when: "server_beta1", needs: "server_rule!=mean server_rule!=sgd server_rule!=sign " +
		"server_rule!=cma", what: noMoment},
	{when: "server_rule=momentum", needs: "server_beta1>0", at: "server_beta1"},
	{when: "server_beta2", needs: "server_beta2<1"},
	{when: "server_beta2", needs: "server_rule!=mean server_rule!=sgd server_rule!=momentum " +
		"server_rule!=sign server_rule!=adagrad server_rule!=cma", what: noMoment},
	{when: "server_epsilon", needs: secondMoment, what: noMoment},
	{when: secondMoment, needs: "server_epsilon>0",
		at: "server_epsilon", what: "this server rule needs one above 0"},
	{when: "server_v0", needs: secondMoment, what: noMoment},
	{when: "server_rule=normalized", needs: "steps=1"},
	{when: "server_rule=normalized", needs: "rule=sgd"},
	{when: "server_rule=normalized", needs: "weight_decay=0"},
	{when: "server_rule=normalized", needs: "control=none"},
	{when: "server_rule=normalized", needs: "distribution!=subspace"},
}, only("server_rule=normalized", "server_decay", "loss_unit"), []rule{
	{when: "step_auto", but: func(p *plan.Plan) bool {
		return p.ServerRule == plan.ServerNormalized || p.ServerRule == plan.ServerCMA
	}, what: "it needs server_rule=normalized or cma"},
	{when: "step_auto", needs: "step_decay=constant", at: "step_decay"},
}, evolutionRules)

// serverSteps are terms that hold for server rules with a step of their own.
const serverSteps = "server_rule!=mean server_rule!=normalized server_rule!=cma"

// secondMoment are terms that hold for server rules with a second moment of each element.
const secondMoment = "server_rule!=mean server_rule!=sgd server_rule!=momentum server_rule!=sign " +
	"server_rule!=normalized server_rule!=cma"

const noMoment = "this server rule has no such moment"
