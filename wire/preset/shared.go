package preset

import "github.com/zofl/zofl/wire"

// sharedPresets have shared directions and a mean: bytes and work of a record do
// not grow with the fleet.
var sharedPresets = []Info{
	{
		Name:   "decomfl",
		Source: "DeComFL, Algorithms 3 and 4 (P > 1; 1 and 2 are P = 1)",
		Notes: `Shared normal directions z, forward difference (Alg. 4, line 18), K local
steps x -= (eta/P) sum_p g_p z_p (line 21; equation (7) prints no 1/P),
unweighted mean of the scalars (Alg. 3, line 10). Defaults are section B.1's:
mu = 1e-3, batch 32, K = 1, P = 10; its step sizes are for language models, the
1e-3 here is that of the published MNIST runs. Those runs used central
differences, torch momentum 0.9 and weight decay 1e-5, which the paper does not
say: set difference=central rule=torch-momentum beta=0.9 weight_decay=1e-5.
rule=momentum is equations (8)-(9); its (1-beta) makes steps 10 times smaller
at beta = 0.9 than torch's momentum.`,
		apply: func(p *wire.Plan) {
			p.Sharing, p.Distribution, p.Difference = wire.SharedDirections, wire.Normal, wire.Forward
			p.Mu, p.Steps, p.Perturbations, p.Batch = 1e-3, 1, 10, 32
			p.Rule, p.Step = wire.SGD, 1e-3
			p.Transport, p.Aggregator, p.Weights = wire.Mean, wire.WeightedMean, wire.Equal
		},
	},
	{
		Name:   "mezo",
		Source: "MeZO (Malladi et al. 2023), Algorithm 1; DeComFL's single-agent baseline",
		Notes: `One device: normal z, central difference, P = 1, x -= eta g z. Nothing is
approximate: the record is the device's own scalar, and the log is the (seed,
scalar) list that the paper says rebuilds a model and its code does not keep.
Defaults are those of the code's mezo.sh: epsilon (mu) 1e-3, batch 16, step 1e-6
to 1e-7, here 1e-6, for fine-tuning language models: a model trained from its
beginning needs a far larger one. Weight decay is the code's lr*(g z + wd x),
that of weight_decay here, but without its exception for biases and norms.
Trap: its code perturbs and restores x in place, in half precision, where what
the rounding adds can exceed what a step moves; here x changes by records only.
Memory: x, 1 d. Work: 1 direction a record.`,
		apply: func(p *wire.Plan) {
			p.Sharing, p.Distribution, p.Difference = wire.SharedDirections, wire.Normal, wire.Central
			p.Mu, p.Steps, p.Perturbations, p.Batch = 1e-3, 1, 1, 16
			p.Rule, p.Step = wire.SGD, 1e-6
			p.Transport, p.Aggregator, p.Weights = wire.Mean, wire.WeightedMean, wire.Equal
			p.Members, p.Target, p.Quorum = 1, 1, 1
		},
	},
	{
		Name:   "zo-adafl",
		Source: "ZO-AdaFL, Algorithm 1 and equations (2)-(6)",
		Notes: `Directions u on the unit sphere, the same for all clients (equation (5)
gives u round and step, but no client), forward difference times d, K steps (6),
then once a round, on the mean move Delta: m and v (2)-(3), the largest v so far,
and x += alpha m/sqrt(v + epsilon) (4): line 16, which the paper calls an option;
server_rule=adam is (4) without it. The scalar that travels is the difference
quotient without d. Defaults are section 5.2's: alpha 0.02, eta 1e-3, beta1 0.9,
beta2 0.99, epsilon 1e-8; of its K in {10, 50, 100} that of Fig. 2b, 50.
Trap: v and its maximum begin at 0 in Algorithm 1, line 1, and at 1e-5 in section
5.2. The numbers are section 5.2's, so v too: server_v0=0 is line 1. From 0 the
first moves of elements with |Delta| below 1e-3 are 20 to 30 times as long.
The paper gives neither mu nor batch: 1e-3 and 25 are those of FedZO's published
code for the same attack. It prints eta_t for the local step: eta_l of (6).
Exact: the mean of the local models, as local steps are SGD, and the server rule,
which sees nothing else. Adam at every local step could not travel as scalars.
Memory: x, m, v and its maximum, 4 d in every replica, one more for K > 1.
Work: K directions a record, each read twice, for its length and for the step.`,
		apply: func(p *wire.Plan) {
			p.Sharing, p.Distribution, p.Difference = wire.SharedDirections, wire.Sphere, wire.Forward
			p.Mu, p.Steps, p.Perturbations, p.Batch = 1e-3, 50, 1, 25
			p.Rule, p.Step = wire.SGD, 1e-3
			p.ServerRule, p.ServerStep = wire.ServerAMSGrad, 0.02
			p.ServerBeta1, p.ServerBeta2, p.ServerEpsilon, p.ServerV0 = 0.9, 0.99, 1e-8, 1e-5
			p.Transport, p.Aggregator, p.Weights = wire.Mean, wire.WeightedMean, wire.Equal
		},
	},
}
