package preset

import "github.com/zofl/zofl/plan"

// sharedPresets have shared directions and mean scalars. So the bytes of a record, and the work of
// its replay, do not grow with the number of devices.
var sharedPresets = []Info{
	{
		Name:   "decomfl",
		Source: "DeComFL, Algorithms 3 and 4 (P > 1; 1 and 2 are P = 1)",
		Notes: `Shared normal directions z, forward difference (Alg. 4, line 18), K local
steps x -= (eta/P) sum_p g_p z_p (line 21; equation (7) prints no 1/P),
unweighted mean of the scalars (Alg. 3, line 10). Defaults are section B.1's:
mu = 1e-3, batch 32, K = 1, P = 10. Its step sizes are for language models; the
1e-3 here is that of the published MNIST runs. Those runs also used central
differences, torch momentum 0.9 and weight decay 1e-5: set difference=central
rule=torch-momentum beta=0.9 weight_decay=1e-5. Section 5 says momentum 0.5, and
names neither central differences nor decay: rule=momentum beta=0.5.
Trap: rule=momentum is equations (8)-(9), whose factor (1-beta) makes steps at
beta = 0.9 10 times smaller than torch's momentum does.
Algorithm 5: devices with gradients send <z, grad f> in the same places. Appendix
A.1: with K = 1 ZO-SignSGD and ZO-Adam are server_rule=sign and adam; with more
local steps rule=sign and adam, which need transport=dense. Equation (10), which
spares a device the snapshot, is not used: rounded to float32 it leaves other bits
than the log. With K = 1 a device needs no snapshot.`,
		apply: func(p *plan.Plan) {
			p.Sharing, p.Distribution, p.Difference = plan.SharedDirections, plan.Normal,
				plan.Forward
			p.Mu, p.Steps, p.Perturbations, p.Batch = 1e-3, 1, 10, 32
			p.Rule, p.StepSize = plan.SGD, 1e-3
			p.Transport, p.Aggregator, p.Weights = plan.Mean, plan.WeightedMean, plan.Equal
		},
	},
	{
		Name:   "mezo",
		Source: "MeZO (Malladi et al. 2023), Algorithm 1; DeComFL's single-agent baseline",
		Notes: `One device: normal z, central difference, P = 1, x -= eta g z. Nothing is
approximate: the record is the device's own scalar, and the log is the list of
(seed, scalar) from which the paper says a model can be rebuilt, and which its code
does not keep.
Defaults are those of the code's mezo.sh: epsilon (mu) 1e-3, batch 16, step 1e-6
to 1e-7, here 1e-6, for fine-tuning language models. A model trained from scratch
needs a far larger step. Weight decay is the code's lr*(g z + wd x), the same as
weight_decay here, but without its exception for biases and norms.
Trap: the code perturbs and restores x in place, in half precision, where rounding
can change x more than a step does; here only records change x.
Memory: x, 1 d. Work: 1 direction a record.`,
		apply: func(p *plan.Plan) {
			p.Sharing, p.Distribution, p.Difference = plan.SharedDirections, plan.Normal,
				plan.Central
			p.Mu, p.Steps, p.Perturbations, p.Batch = 1e-3, 1, 1, 16
			p.Rule, p.StepSize = plan.SGD, 1e-6
			p.Transport, p.Aggregator, p.Weights = plan.Mean, plan.WeightedMean, plan.Equal
			p.Members, p.Target, p.Quorum = 1, 1, 1
		},
	},
	{
		Name:   "fedkseed",
		Source: "FedKSeed (Qin et al. 2023, arXiv 2312.06353), and its published code",
		Notes: `Directions from a pool of 4,096 (the code's K), which derive from the run key: a
model is the pool's coefficients, 4,097 numbers, however many rounds made it. Normal z,
central difference, one direction a local step, x -= eta g z, 200 local steps a round
(tau), means weighted by samples. Defaults are the code's: mu (zo_eps) 5e-4, batch 1,
and the step 3e-7 of its README, for language models of a billion parameters.
Not as there: its devices each draw their own directions of the pool; here those of a
round share each draw, so that a record has one mean a step. FedKSeed-Pro, which draws
by the size of earlier scalars, is not there.
Trap: moves never leave the span of 4,096 directions.
Memory: x, 1 d, and 4,097 numbers. Work: 200 directions a record, and the whole pool
again after every 64 rounds (rebase), so that the rounding of x does not add up.`,
		apply: func(p *plan.Plan) {
			p.Sharing, p.Distribution, p.Difference = plan.SharedDirections, plan.Normal,
				plan.Central
			p.Pool, p.Rebase = 4096, plan.DefaultRebase
			p.Mu, p.Steps, p.Perturbations, p.Batch = 5e-4, 200, 1, 1
			p.Rule, p.StepSize = plan.SGD, 3e-7
			p.Transport, p.Aggregator, p.Weights = plan.Mean, plan.WeightedMean, plan.BySamples
		},
	},
}
