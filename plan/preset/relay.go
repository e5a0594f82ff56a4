package preset

import "github.com/zofl/zofl/plan"

// relayPresets are methods in which each device has its own directions.
var relayPresets = []Info{{
	Name:   "fedzo",
	Source: "FedZO (Fang et al. 2022): DeComFL (2)-(3), FZooS (7) and (87)",
	Notes: `Every client has its own directions, uniform on the unit sphere, and makes K steps
x -= eta (d/P) sum_p g_p u_p with the forward difference (3); the server takes the mean
of the local models (2c). The scalar that is sent is g, without the factor d.
DeComFL's (3) prints no d because its z may be normal; FZooS (7) prints none either;
on the sphere the estimate needs it (FedZO's code has d/(mu b2)). A record has the
scalars of every contributor, so every device can see them: about
contributors*K*P*4 bytes. Defaults are the published code's (run_localep,
run_participate): 10 clients, all of them in a round, H = K = 20, b2 = P = 20,
b1 = batch 25, step 1e-3, mu 1e-3. With 10 contributors that makes records of 16 KiB; the
longest that a frame holds are of 60 KiB, for 37 contributors. For more of them set
precision=half max_scalar=65504, which halves the records.
The settings of the published MNIST softmax results are not in that code. Its data-size
weights are commented out; weights=samples enables them.
Exact: replaying each contributor's scalars gives the mean of the local models, also
with momentum, weight decay and prox, which are linear.
Memory: x, and for K > 1 a local iterate on a device; the paper sends d floats up and
down a round. Work: a replica generates every contributor's directions,
contributors*K*P a record, each twice: once for its length and once for the step.`,
	apply: func(p *plan.Plan) {
		p.Sharing, p.Distribution, p.Difference = plan.PerClient, plan.Sphere, plan.Forward
		p.Mu, p.Steps, p.Perturbations, p.Batch = 1e-3, 20, 20, 25
		p.Rule, p.StepSize = plan.SGD, 1e-3
		p.Transport, p.Aggregator, p.Weights = plan.Relay, plan.WeightedMean, plan.Equal
	},
}}
