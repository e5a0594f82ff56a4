package preset

import "github.com/zofl/zofl/plan"

// fullDim is the largest model whose plan learns a whole covariance: above, a limited one is ahead
// for coarse answers and takes less time.
const fullDim = 128

// noisyDim is the least model for which raising the candidates pays under noise.
const noisyDim = 20

var evolutionPresets = []Info{{
	Name:   "cma",
	Source: "MA-ES (Beyer, Sendhoff 2017), CMA-ES's weights; above 128 parameters LM-MA-ES",
	Notes: `An evolution strategy, for up to 100 parameters or so, where all devices are asked and
evaluate all of their data. Each round all devices evaluate the same lambda=perturbations
candidates x + sigma M z, z normal. A scalar is a candidate's loss less the device's least
one. The record has their means, by which every replica ranks the candidates:
x += sigma sum w y, p = (1-cs) p + c sum w z, sigma *= X(|p|), and M grows along good
candidates and shrinks along bad ones. docs/replay.md has each operation.
There is no mu and no difference, so steps of a loss do no harm, nor does its scale.
step=auto: before round 1 each device evaluates 19 losses along one direction, for the
first sigma. With boxes sigma begins at 0.1 of their sides. A number for step turns the
search off: about a third of the distance to the optimum is good.
perturbations_auto=on, from 20 parameters on: noise raises lambda, up to 64 times.
restarts=N: where losses no longer fall, the run begins again with twice the candidates,
for losses with many minima.
Traps: ask all devices in each round (target=members). Cohorts of unlike devices share the
error of their own optimum, which no later round undoes. Scalars of half precision stall
earlier. The model is x, the mean, not the best candidate, which under noise was lucky.
Weights and rates are of Hansen, arXiv:1604.00772; LM-MA-ES is of Loshchilov, Glasmachers
and Beyer, arXiv:1705.06693. Two things differ: sums of 1/(j+1/2) in place of logarithms,
and a quotient of polynomials in place of exp.
Memory: x, p and a matrix, d^2 + 2 d in every replica; limited 6 + 3 ln d vectors. Work:
2 lambda d^2 products a record, and lambda d^2 to make the candidates.`,
	apply: func(p *plan.Plan) {
		p.Sharing, p.Distribution, p.Difference = plan.SharedDirections, plan.Normal,
			plan.NoDifference
		p.Steps, p.Perturbations = 1, plan.Candidates(p.Dim)
		p.Rule, p.StepAuto = plan.SGD, 1
		p.ServerRule = plan.ServerCMA
		if p.Dim > fullDim {
			p.Covariance = plan.LimitedCovariance
		}
		if p.Dim >= noisyDim {
			p.PerturbationsAuto = 1
		}
		p.Transport, p.Aggregator, p.Weights = plan.Mean, plan.WeightedMean, plan.Equal
		p.MaxScalar = 1e30
	},
}}
