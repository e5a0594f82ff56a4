package preset

import "github.com/zofl/zofl/plan"

// correctedPresets are methods of finite differences with corrections. The corrections keep devices
// with different data from drifting apart.
var correctedPresets = []Info{
	{
		Name:   "fedprox",
		Source: "FedProx with finite differences: FZooS (7) and (89), appendix F",
		Notes: differenceNotes + `Each step adds gamma (x_k - x_0), gamma = prox: a pull
towards the round's first point. The paper gives no value for gamma; its code has 1,
which at a step of 0.01 goes a tenth of the way back over 10 steps.
Trap: the text below (6) prints x_r for x_0, and (89) x_(r-1). It is the point where the
round began, not the last iterate. Scalars are sent without the pull, which replicas
compute themselves.
Exact: the pull is linear, so the replay is the mean of the local models.
Memory and work: the same as without prox.`,
		apply: func(p *plan.Plan) {
			differences(p)
			p.Prox = 1
		},
	},
	{
		Name:   "scaffold-1",
		Source: "SCAFFOLD type I with finite differences: FZooS (7) and (91), appendix F",
		Notes: differenceNotes + `Each step adds c - c_i, where c_i is the device's own
estimate at the round's first point and c the mean of all c_i. A round therefore has two
phases and two records: first P more queries (and one for f(x)) and another message up
and down, then the K steps. In the paper c is the mean over all N clients, here over the
contributors of the first phase. The second asks the same devices again (cohort=round),
so that the corrections of the contributors cancel.
Exact, even if the second phase has other contributors than the first: each device also
sends the c_i that it used, and the record has their mean. A device that took no part in
the first phase computes its c_i in the second. But what does not cancel then is noise,
repeated K times: with a cohort drawn for each phase (cohort=record, as plans without the
field have it), 10 of 100 clients fall far behind plain steps.
Trap: with few perturbations the correction adds noise of its own. For this reason the
paper finds type II better than type I, and, where devices are much alike, type I worse
than no correction.
Memory: a correction, d more on a device. Work: P directions more a round.`,
		apply: func(p *plan.Plan) {
			differences(p)
			p.Control, p.Cohort = plan.ScaffoldPoint, 1
		},
	},
	{
		Name:   "zo-svrg",
		Source: "ZO-SVRG (Liu et al. 2018), Algorithm 2; DeComFL's appendix A.1 names it",
		Notes: `decomfl with variance reduction. A round is one epoch of the paper. Phase 1: on
all of its data each device estimates the gradient at the round's x_0 along P shared
directions; c is the mean. Phase 2: K local steps
x -= eta (grad_B f(x) - grad_B f(x_0) + c),
where both estimates grad_B are of one minibatch and along the same directions. So a
step has the noise of a minibatch only as far as the gradients at x and x_0 differ, and
with x_0 near the optimum that noise goes away. That of few directions stays: c has it in
all K steps.
The paper draws directions for each sample, and its theorem 1 bounds an error of order
1/b for minibatches of b; here all samples and devices share them, as scalars can be
summed only along the same direction, and there is no such error. c is the
mean over the devices asked, as in federated SVRG, and phase 2 asks them again
(cohort=round). The paper has directions on the sphere; distribution=sphere has them,
with mu times sqrt(d).
Exact: all is linear, so the replay is the mean of the local models.
Defaults are decomfl's but K = 5, which no paper gives.
Trap: phase 1 evaluates P + 1 losses of all data, and each local step but the first
2(P + 1) losses of a minibatch. A device whose minibatches have most of its samples has
nothing to gain.
Memory: a correction, d more on a device. Work: P directions more a round.`,
		apply: func(p *plan.Plan) {
			differences(p)
			p.Mu, p.Steps, p.Perturbations, p.Batch, p.StepSize = 1e-3, 5, 10, 32, 1e-3
			p.Control, p.Cohort = plan.SVRG, 1
		},
	},
	{
		Name:   "scaffold-2",
		Source: "SCAFFOLD type II with finite differences: FZooS (7) and (93), appendix F",
		Notes: differenceNotes + `Each step adds c - c_i, where c_i is the mean of the device's
estimates over the K steps of its last contribution that a record counted, and c the
mean of c_i over all devices. The paper uses the estimates of the previous round, in
which, under partial participation, most devices took no part; so c_i may be old, as in
SCAFFOLD itself. A device that never contributed has c_i = 0, which counts in c.
Exact, also under partial participation: every replica keeps the sum of the control
variates. Each c_i consists of scalars along older directions, which the record has,
grouped by record; so a record has up to contributors + 1 times the bytes of a mean.
Trap: sample weights, robust aggregators and open rosters are refused, because c would
not be a mean that anybody can compute.
Memory: a sum, d more in every replica, and a correction, d more on a device. Work: up
to (contributors + 1)*K*P directions a record, or 2*K*P if all contribute every time.`,
		apply: func(p *plan.Plan) {
			differences(p)
			p.Control = plan.ScaffoldMean
		},
	},
}

// differences sets FZooS's framework (algorithm 1) with finite differences.
func differences(p *plan.Plan) {
	p.Sharing, p.Distribution, p.Difference = plan.SharedDirections, plan.Normal, plan.Forward
	p.Mu, p.Steps, p.Perturbations, p.Batch = 0.01, 10, 20, 0
	p.Rule, p.StepSize = plan.SGD, 0.01
	p.Transport, p.Aggregator, p.Weights = plan.Mean, plan.WeightedMean, plan.Equal
}

const differenceNotes = `K steps x -= eta (Delta + correction), where Delta is the mean of P forward
differences along normal directions (7), on all data (batch 0: the paper's objectives
have no samples). Defaults are appendix G's: K = T = 10, step 0.01. The appendix gives
neither P nor mu; the paper's code has 20 and 0.01. That code makes the directions
orthonormal and steps with Adam. Here directions are normal and shared, and the steps
are algorithm 1's, because Adam at every step cannot be replayed from mean scalars.
`
