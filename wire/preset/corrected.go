package preset

import "github.com/zofl/zofl/wire"

// correctedPresets are finite differences with what keeps devices with unlike
// data from drifting apart.
var correctedPresets = []Info{
	{
		Name:   "fedprox",
		Source: "FedProx with finite differences: FZooS (7) and (89), appendix F",
		Notes: differenceNotes + `Each step adds gamma (x_k - x_0), gamma = prox, the pull to the
round's first point. gamma is a constant that the paper does not give: its code has 1,
at a step of 0.01 a tenth of the way back over 10 steps.
Trap: the text below (6) prints x_r for x_0, (89) x_(r-1): it is the point where the
round began, not the last one. Scalars travel without the pull: replicas know it.
Exact: the pull is linear, so the replay is the mean of the local models.
Memory and work: those of a run without it.`,
		apply: func(p *wire.Plan) {
			differences(p)
			p.Prox = 1
		},
	},
	{
		Name:   "scaffold-1",
		Source: "SCAFFOLD type I with finite differences: FZooS (7) and (91), appendix F",
		Notes: differenceNotes + `Each step adds c - c_i: c_i is the device's own estimate at the
round's first point, c the mean of all. So a round is two phases and two records: P
more queries (and one more for f(x)), another message up and down, then the K steps.
The paper's c is over all N clients, here over the contributors of the first phase.
Exact, also if others contribute to the second phase than to the first: the
corrections of those who contribute do not cancel then, so each sends the c_i that it
used (who had no part in the first phase finds it in the second) and the record brings
their mean. Trap: with few perturbations the correction adds its own noise; the paper
finds type II ahead of type I for that, and type I behind no correction at all where
devices are much alike.
Memory: a correction of d more on a device. Work: P directions more a round.`,
		apply: func(p *wire.Plan) {
			differences(p)
			p.Control = wire.ScaffoldPoint
		},
	},
	{
		Name:   "scaffold-2",
		Source: "SCAFFOLD type II with finite differences: FZooS (7) and (93), appendix F",
		Notes: differenceNotes + `Each step adds c - c_i: c_i is the mean of the device's estimates
over the K steps of its last contribution that a record counted, c the mean of all
devices'. The paper's are those of the round before, which under partial
participation most devices sat out, so c_i may be old, as in SCAFFOLD itself. A device
that never contributed has c_i = 0 and counts in c as that.
Exact, also under partial participation: every replica keeps the sum of the control
variates; each c_i is scalars along older directions, which the record brings, grouped
by record: its bytes grow up to contributors + 1 times the mean's.
Trap: weighting, robust aggregators and open rosters are refused, as c would no longer
be a mean that anybody knows.
Memory: a sum of d more in every replica, a correction of d more on a device. Work: up
to (contributors + 1)*K*P directions a record, 2*K*P where all contribute always.`,
		apply: func(p *wire.Plan) {
			differences(p)
			p.Control = wire.ScaffoldMean
		},
	},
}

// differences is FZooS's framework (algorithm 1) with finite differences.
func differences(p *wire.Plan) {
	p.Sharing, p.Distribution, p.Difference = wire.SharedDirections, wire.Normal, wire.Forward
	p.Mu, p.Steps, p.Perturbations, p.Batch = 0.01, 10, 20, 0
	p.Rule, p.Step = wire.SGD, 0.01
	p.Transport, p.Aggregator, p.Weights = wire.Mean, wire.WeightedMean, wire.Equal
}

const differenceNotes = `K steps x -= eta (Delta + correction), Delta the mean of P forward
differences along normal directions (7), on all data (batch 0: the paper's objectives
have no samples). Defaults are appendix G's: K = T = 10, step 0.01; it does not give P
and mu, its code has 20 and 0.01. That code makes the directions orthonormal and takes
Adam for the local steps; here they are normal and shared, and the steps are algorithm
1's, as Adam at every step could not travel as scalars.
`
