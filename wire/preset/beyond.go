package preset

import "github.com/zofl/zofl/wire"

// beyondPresets are of no paper: combinations that experiments of this repository
// found.
var beyondPresets = []Info{{
	Name:   "decomfl-adam",
	Source: "none; DeComFL with parts of others, found by the experiment beyond",
	Notes: `DeComFL's shared directions and mean, K = 1, with four changes: forward
differences, 19 directions for the 20 queries that 10 central ones take; Rademacher
directions, which a replica makes 8 at a time; scalars of half precision, so that 19
travel in the bytes of 10; and Adam on the round's move in place of momentum, as
ZO-AdaFL (2)-(4) has it.
Measured on MNIST, the CNN of 28,938 parameters, IID, 10 clients, batch 8, after 2,000
queries of each: accuracy 0.713 (loss 1.14), at server_step 4e-3 0.742 (0.79); DeComFL
with P = 10, central differences, torch momentum 0.9 and its best step has 0.641 (1.40):
  go -C testing run -tags openblas ./cmd/paper run beyond --short
Of three seeds along other directions: 0.725 [0.722-0.729] against 0.605 [0.585-0.618].
With 10 of 100 clients and batch 32, as the authors of DeComFL run it, one run of
experiment beyond, cut to this preset, has 0.801 (0.73) after 100 rounds and 0.860
(0.48) after 200; experiment decomfl-mnist's three at their step 5e-4 have 0.66 and
0.79 to 0.81. Bytes a round are alike.
On softmax in 150 rounds forward differences alone bring 0.786 to 0.841 (one seed), and
Adam does no better than momentum. A quarter-size CNN diverged with momentum at twice
its best step and without momentum fell back; Adam held at any of three steps.
Traps: a half reaches to 65504 and larger scalars are refused. Forward differences have
a bias of the order of mu: mind it where losses are sharp. The step size is server_step,
on softmax best at 3e-3 of 1e-3, 3e-3 and 1e-2; step matters only beside server_epsilon.
In a first search, one seed each, what did not help beside: directions guided by the
last moves (they lost), a seed pool, AMSGrad and Yogi (the same), larger P. K = 4 with
momentum came to the same at equal queries with fewer messages.
Memory: x, m and v, 3 d in every replica. Work: P directions a record.`,
	apply: func(p *wire.Plan) {
		p.Sharing, p.Distribution, p.Difference = wire.SharedDirections, wire.Rademacher, wire.Forward
		p.Mu, p.Steps, p.Perturbations, p.Batch = 1e-3, 1, 19, 32
		p.Rule, p.Step = wire.SGD, 1e-3
		p.ServerRule, p.ServerStep = wire.ServerAdam, 2e-3
		p.ServerBeta1, p.ServerBeta2, p.ServerEpsilon = 0.9, 0.99, 1e-12
		p.Transport, p.Aggregator, p.Weights = wire.Mean, wire.WeightedMean, wire.Equal
		p.Precision, p.MaxScalar = wire.Half, 65504
	},
}}
