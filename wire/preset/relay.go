package preset

import "github.com/zofl/zofl/wire"

// relayPresets have directions of each client's own.
var relayPresets = []Info{{
	Name:   "fedzo",
	Source: "FedZO (Fang et al. 2022): DeComFL (2)-(3), FZooS (7) and (87)",
	Notes: `Every client has directions of its own, uniform on the unit sphere, and takes
K steps x -= eta (d/P) sum_p g_p u_p with the forward difference (3); the server
takes the mean of the local models (2c). The scalar that travels is g, without d.
DeComFL's (3) prints no d because its z may be normal; FZooS (7) prints none either;
on the sphere the estimate needs it (FedZO's code has d/(mu b2)). A record relays
the scalars of every contributor, so every device can see them: about
contributors*K*P*4 bytes. Defaults are of the published code (run_localep,
run_participate): 10 clients, all of them in a round, H = K = 20, b2 = P = 20,
b1 = batch 25, step 1e-3, mu 1e-3. With 10 contributors that is 16 KiB a record,
just within the limit of a relay: more of any of them wants precision=half with
max_scalar=65504, which takes half.
The published MNIST softmax numbers are not in that code. Its data-size weights are
commented out: weights=samples has them.
Exact: replaying each contributor's scalars is the mean of the local models, with
momentum, weight decay and prox as well, which are linear.
Memory: x, and for K > 1 a local iterate on a device; the paper moves d floats up and
down a round. Work: a replica makes every contributor's directions, contributors*K*P
a record, each read twice, for its length and for the step.`,
	apply: func(p *wire.Plan) {
		p.Sharing, p.Distribution, p.Difference = wire.PerClient, wire.Sphere, wire.Forward
		p.Mu, p.Steps, p.Perturbations, p.Batch = 1e-3, 20, 20, 25
		p.Rule, p.Step = wire.SGD, 1e-3
		p.Transport, p.Aggregator, p.Weights = wire.Relay, wire.WeightedMean, wire.Equal
	},
}}
