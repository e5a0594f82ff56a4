package preset

import "github.com/zofl/zofl/wire"

// densePresets send whole vectors.
var densePresets = []Info{
	{
		Name:   "fzoos",
		Source: "FZooS (Shu et al. 2024): algorithm 2, (3)-(5), (8), appendices D and G",
		Notes: `For expensive losses of some tens to thousands of parameters. A device keeps the
losses that it asked for as points of a Gaussian process and steps along the gradient
of its posterior mean (8), so that a step costs 1 + active queries, not P + 1. It adds
gamma (what the fleet's surrogates say - what its own says), both w of M random
features (3): phase 1 brings the mean of x, phase 2 the mean of w, after around more
queries at the new x. correction=inverse is gamma = 1/t; theory is corollary E.1.
Defaults are of appendix G: T = steps = 10, 5 of 100 candidates within 0.01, M = 10000,
l = 1, Adam 0.01 begun anew each round. It does not give the noise (1e-6, as its code),
nor the queries around x: 20 here, 50 in its code, 5 where queries cost more than rounds.
Set boxes: the paper's lengths are of a domain taken to [0, 1]; without them parameters
are used as they are.
Traps: appendix D prints features 2/sqrt(M) cos; for a kernel of 1 at 0 it is
sqrt(2/M). The paper keeps all of the trajectory; here it is the latest 300 losses, as
old points far up the slope pull the gradient away, and M well above the window. Where
devices differ much gamma = 1/t lets Adam drift apart and the loss may rise:
correction=one holds them together. Directions, difference and mu are not used.
The published code is another method in parts: Matern kernel, fitted each step
(kernel=matern without the fit), derivatives by differences that vanish at 0, the
nearest 150 points (window_of=nearest), and a server that keeps the old x where the
mean of x is worse, by queries it does not count.
A device that lost its points contributes nonetheless, from new ones.
Bytes: 4 (d + M) up and down a round and device. Memory of a device: 3 window^2 and
window (2d + M) numbers of 8 bytes, M d of 4.`,
		apply: func(p *wire.Plan) {
			p.Sharing, p.Distribution, p.Difference = wire.SharedDirections, wire.Normal, wire.Forward
			p.Mu, p.Steps, p.Perturbations = 1e-3, 10, 1
			p.Estimator, p.Features, p.LengthScale, p.Noise, p.Window = wire.Surrogate, 10000, 1, 1e-6, 300
			p.Active, p.Around, p.Candidates, p.Radius = 5, 20, 100, 0.01
			denseAdam(p)
		},
	},
	{
		Name:   "fedzo-dense",
		Source: "FedZO (Fang et al. 2022), FZooS appendix G for the local rule",
		Notes: `The preset fedzo with whole models up and down: 4d bytes each way, whatever K, P and
the number of contributors are, where fedzo relays every scalar to everybody. Directions
are still of seeds, so a device can make them again; nobody else needs them.
With it any local rule will do: rule=adam beta=0.9 beta2=0.999 epsilon=1e-8 is what
FZooS's baselines step by, at 0.01 with P = 20 in boxes, begun anew each round; prox
and control=scaffold-1 or scaffold-2 make them FedProx and SCAFFOLD. Of scaffold-1 a
round is two vectors, the estimate at the round's first point and then the model; of
scaffold-2 one of twice the length. c is the mean over the contributors of the last
such record, and c_i what the device found when it last took part.
The mean is exact and rounded once. Memory: x and a local iterate, a move, what the
rule keeps. A device that was away fetches the last vector, not the log's.`,
		apply: func(p *wire.Plan) {
			p.Sharing, p.Distribution, p.Difference = wire.PerClient, wire.Sphere, wire.Forward
			p.Mu, p.Steps, p.Perturbations, p.Batch = 1e-3, 20, 20, 25
			p.Rule, p.Step = wire.SGD, 1e-3
			p.Transport, p.Aggregator, p.Weights, p.DenseKeep = wire.DenseVectors, wire.WeightedMean, wire.Equal, wire.DefaultDenseKeep
		},
	},
}

// denseAdam is what FZooS's appendix G has its methods step by.
func denseAdam(p *wire.Plan) {
	p.Rule, p.Step, p.Beta, p.Beta2, p.Epsilon = wire.LocalAdam, 0.01, 0.9, 0.999, 1e-8
	p.Transport, p.Aggregator, p.Weights, p.DenseKeep = wire.DenseVectors, wire.WeightedMean, wire.Equal, wire.DefaultDenseKeep
}
