package preset

import "github.com/zofl/zofl/plan"

// adaptivePresets are methods whose server rule applies the round's mean move with first and second
// moments, as Adam does.
var adaptivePresets = []Info{
	{
		Name:   "zo-adafl",
		Source: "ZO-AdaFL, Algorithm 1 and equations (2)-(6)",
		Notes: adaptiveNotes + `Directions are each client's own. In equation (5) u has
indices for round and step and none for the client, which would be the preset
zo-adafl-shared; but Fig. 2b, where more clients help, cannot be had with it.
Work: contributors*K directions a record, each twice: once for its length and once for
the step. A record has the scalars of every contributor, 2 KB for 10 at K = 50, so every
device can see them.`,
		apply: func(p *plan.Plan) {
			adaptive(p)
			p.Sharing, p.Transport = plan.PerClient, plan.Relay
		},
	},
	{
		Name:   "zo-adafl-shared",
		Source: "ZO-AdaFL, Algorithm 1 and equations (2)-(6), with shared directions",
		Notes: adaptiveNotes + `Directions are the same for all clients, as in equation
(5) to the letter: u has indices for round and step, but none for the client. Then
more clients average over more data
and not over more directions, so they hardly help, unlike in the paper's Fig. 2b. A
record has K mean scalars, however many contribute.
Work: K directions a record, each twice: once for its length and once for the step.`,
		apply: func(p *plan.Plan) {
			adaptive(p)
			p.Sharing, p.Transport = plan.SharedDirections, plan.Mean
		},
	},
}

// adaptive sets Algorithm 1 of ZO-AdaFL, except which directions a device probes.
func adaptive(p *plan.Plan) {
	p.Distribution, p.Difference = plan.Sphere, plan.Forward
	p.Mu, p.Steps, p.Perturbations, p.Batch = 1e-3, 50, 1, 25
	p.Rule, p.StepSize = plan.SGD, 1e-3
	p.ServerRule, p.ServerStep = plan.ServerAMSGrad, 0.02
	p.ServerBeta1, p.ServerBeta2, p.ServerEpsilon, p.ServerV0 = 0.9, 0.99, 1e-8, 1e-5
	p.Aggregator, p.Weights = plan.WeightedMean, plan.Equal
}

const adaptiveNotes = `Directions u on the unit sphere; forward difference times d;
K steps (6). Then, once a round, on the mean move Delta: m and v (2)-(3), the
largest v so far, and x += alpha m/sqrt(v + epsilon) (4) with that maximum for v:
line 16, which the paper calls an option. server_rule=adam is (4) without the
maximum. The scalar that is sent is the difference quotient, without d. Defaults are
section 5.2's: alpha 0.02, eta 1e-3, beta1 0.9, beta2 0.99, epsilon 1e-8; of its K
in {10, 50, 100} Fig. 2b's, 50.
Trap: v and its maximum start at 0 in Algorithm 1, line 1, and at 1e-5 in section
5.2. All numbers here are section 5.2's, so v is too; server_v0=0 is line 1. Starting
from 0, the first moves of elements with |Delta| below 1e-3 are 20 to 30 times as long.
The paper gives neither mu nor batch; 1e-3 and 25 are those of FedZO's published
code for the same attack. Its local step prints eta_t where (6) has eta_l.
Exact: the result is the mean of the local models, since local steps are SGD, and the
server rule sees nothing else. Adam at every local step cannot be replayed from mean
scalars.
Memory: x, m, v and its maximum, 4 d in every replica, one more for K > 1.
`
