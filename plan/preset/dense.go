package preset

import "github.com/zofl/zofl/plan"

// densePresets are methods in which devices send vectors instead of scalars.
var densePresets = []Info{
	{
		Name:   "fzoos",
		Source: "FZooS (Shu et al. 2024): algorithm 2, (3)-(5), (8), appendices D and G",
		Notes: `For expensive losses of some tens to thousands of parameters. A device fits a
Gaussian process to the losses it measured and steps along the gradient of its posterior
mean (8), so a step costs 1 + active queries in place of P + 1. To the gradient it adds
gamma times the difference between the fleet's surrogate and its own, where a surrogate
is a vector w for M random features (3). Phase 1 gives the mean of x; phase 2, after
1 + around queries at the new x, the mean of w. correction=inverse is gamma = 1/t;
correction=theory is corollary E.1.
Defaults are appendix G's: T = steps = 10, 5 of 100 candidates within 0.01, M = 10000,
l = 1, and Adam with 0.01, which starts anew each round. The appendix gives neither the
noise (1e-6 here and in the paper's code) nor the queries around x: 20 here, 50 in the
code; choose 5 where queries cost more than rounds.
Set boxes: the paper's lengths refer to a domain scaled to [0, 1]. Without boxes, they
are in parameter units.
Different from the paper: the mean of the window's losses is subtracted from them before
(5) and (8), which have no mean. Far from its points a surrogate is then flat, where the
paper's pulls to a loss of 0. prior=zero is the paper's; on quadratics it does worse.
length_fit=on lets each device choose l anew at each step, by marginal likelihood, as
the published code does and the paper does not. The step's active queries come after the
fit, and its gradient uses them (after them a fit would move x by 5e-3 of its length). In
w, l is always the plan's.
Traps: appendix D prints features 2/sqrt(M) cos; a kernel that is 1 at 0 needs
sqrt(2/M). The paper keeps the whole trajectory; here the window is the latest 300
losses, because old points far up the slope pull the gradient away. Keep M well above
the window. Where devices differ much (C = 50 in the paper's quadratics), gamma = 1/t lets
Adam drift apart and the loss rises, even with exact gradients in place of surrogates:
the paper's rule, not the surrogate. correction=one holds the devices together.
Directions, difference and mu are not used.
The published code differs from the paper: it uses a Matern kernel, fitted at each step,
derivatives by differences that vanish at 0, the nearest 150 points, and a server that
keeps the old x where the mean of x is worse, by queries that it does not count. Of these
there is the fit alone, length_fit=on.
A device that was stopped or killed goes on with the points of its last checkpoint, or
with new ones. Then the replicas still agree, but the model is not bit-identical to that
of an undisturbed run.
Bytes: 4 (d + M) up and down for each round and device. Memory of a device:
3 window^2 + window (2d + M) numbers of 8 bytes, and M d of 4.`,
		apply: func(p *plan.Plan) {
			p.Sharing, p.Distribution, p.Difference = plan.SharedDirections, plan.Normal,
				plan.Forward
			p.Mu, p.Steps, p.Perturbations = 1e-3, 10, 1
			p.Estimator, p.Features, p.LengthScale, p.Noise, p.Window = plan.Surrogate, 10000, 1,
				1e-6, 300
			p.Active, p.Around, p.Candidates, p.Radius = 5, 20, 100, 0.01
			denseAdam(p)
		},
	},
	{
		Name:   "fedzo-dense",
		Source: "FedZO (Fang et al. 2022), FZooS appendix G for the local rule",
		Notes: `The preset fedzo with whole models up and down: 4d bytes each way whatever K, P and
the number of contributors are, where fedzo relays every scalar to all devices.
Directions still derive from seeds, so a device can regenerate its own; no other device
needs them.
It allows any local rule. rule=adam beta=0.9 beta2=0.999 epsilon=1e-8 is that of FZooS's
baselines, at step 0.01 with P = 20 in boxes; it starts anew each round. With prox or
control=scaffold-1 or scaffold-2 they become FedProx and SCAFFOLD. A round of
scaffold-1 has two vectors, the estimate at the round's first point and then the model;
one of scaffold-2 has one of twice the length. c is the mean over the contributors of
the last such record, and c_i is the device's own when it last took part.
The mean is exact and rounded once. Memory: x, a local iterate, a move, and the vectors
of the rule. A device that was away fetches the last vector only, not the whole log. One
that was killed takes c_i from the vector that it sent last, so the model is bit-identical
to that of an undisturbed run.`,
		apply: func(p *plan.Plan) {
			p.Sharing, p.Distribution, p.Difference = plan.PerClient, plan.Sphere, plan.Forward
			p.Mu, p.Steps, p.Perturbations, p.Batch = 1e-3, 20, 20, 25
			p.Rule, p.StepSize = plan.SGD, 1e-3
			p.Transport, p.Aggregator, p.Weights, p.DenseKeep = plan.DenseVectors,
				plan.WeightedMean, plan.Equal, plan.DefaultDenseKeep
		},
	},
}

// denseAdam sets the local rule of all methods in FZooS's appendix G.
func denseAdam(p *plan.Plan) {
	p.Rule, p.StepSize, p.Beta, p.Beta2, p.Epsilon = plan.LocalAdam, 0.01, 0.9, 0.999, 1e-8
	p.Transport, p.Aggregator, p.Weights, p.DenseKeep = plan.DenseVectors, plan.WeightedMean,
		plan.Equal, plan.DefaultDenseKeep
}
