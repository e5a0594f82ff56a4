package preset

import "github.com/zofl/zofl/plan"

// subspacePresets are ZOFedHT and the methods to which its paper compares it.
var subspacePresets = []Info{
	{Name: "zofedht", Source: "ZOFedHT, Algorithm 1 and equation (9)",
		Notes: subspaceNotes + relayedNotes, apply: zofedht},
	{Name: "zofedht-shared", Source: "ZOFedHT, Algorithm 1, with shared directions",
		Notes: subspaceNotes + sharedNotes, apply: sharing(zofedht)},
	{Name: "zofedavg-sgd", Source: "ZOFedHT section IV: ZOFedAvg-SGD",
		Notes: averageNotes + relayedNotes, apply: zofedavg},
	{Name: "zofedavg-sgd-shared",
		Source: "ZOFedHT section IV: ZOFedAvg-SGD, with shared directions",
		Notes:  averageNotes + sharedNotes, apply: sharing(zofedavg)},
	{Name: "zofedavg-gd", Source: "ZOFedHT section IV: ZOFedAvg-GD",
		Notes: averageNotes + allDataNotes + relayedNotes, apply: allData(zofedavg)},
	{Name: "zofedavg-gd-shared", Source: "ZOFedHT section IV: ZOFedAvg-GD, with shared directions",
		Notes: averageNotes + allDataNotes + sharedNotes, apply: sharing(allData(zofedavg))},
}

// zofedavg sets ZOFedHT with a = 0.
func zofedavg(p *plan.Plan) {
	p.Sharing, p.Distribution, p.Difference = plan.PerClient, plan.Normal, plan.Central
	p.Mu, p.Steps, p.Perturbations, p.Batch = 1e-4, 50, 1, 64
	p.Rule, p.StepSize, p.StepDecay = plan.SGD, 1, plan.InverseSqrt
	p.Transport, p.Aggregator, p.Weights = plan.Relay, plan.WeightedMean, plan.Equal
}

func zofedht(p *plan.Plan) {
	zofedavg(p)
	p.Distribution, p.SubspaceMoves, p.SubspaceShare = plan.Subspace, 5, 0.5
}

// allData changes a method to use all of a device's data at every step.
func allData(apply func(*plan.Plan)) func(*plan.Plan) {
	return func(p *plan.Plan) {
		apply(p)
		p.Batch = 0
	}
}

// sharing changes a method to directions that all devices share.
func sharing(apply func(*plan.Plan)) func(*plan.Plan) {
	return func(p *plan.Plan) {
		apply(p)
		p.Sharing, p.Transport = plan.SharedDirections, plan.Mean
	}
}

const subspaceNotes = `Directions v ~ N(0, C), C = (1-a) I + a Q Q' (9), drawn as
sqrt(1-a) v1 + sqrt(a) Q v2. The columns of Q span the last tau moves of the model
(line 6); before there are tau, v is v1 alone (line 10). Central difference (line 15), K
steps x -= eta g v (line 16), eta = eta0/sqrt(r), where r counts rounds from 1; the paper
counts from 0 and prints sqrt(r+1). The paper broadcasts Q, d*tau floats every tau
rounds; here every replica has the moves, so Q is never sent.
Defaults are section IV's: mu 1e-4, K = 50, batch 64, tau 5 (printed as L). It tunes
eta0 in {0.1, 1, 10} and a in {0.1, ..., 0.9}; the middle values here, 1 and 0.5, are
only a start: tune both.
Traps: directions with a near 1 hardly leave the subspace (a = 1 is refused). The
estimate's mean is C times the gradient, which is longer within the subspace by
1/(1-a). On sparse data the paper itself finds plain normal directions better in the
long run. Line 3 samples clients with replacement; here a cohort has each device once.
Memory: 2 tau d more in every replica, the basis and the moves since: 10 d at tau 5.
Work: up to tau more passes over d for each direction, and a factorization of tau
columns every tau rounds.
`

const averageNotes = `ZOFedHT with a = 0: normal directions, central difference, K steps
x -= eta g z, eta = eta0/sqrt(r), where r counts rounds from 1 (from 0 in the paper).
Defaults are section IV's: mu 1e-4, K = 50, batch 64. It tunes eta0 in
{0.1, 1, 10}; the 1 here is only a start: tune it. Memory: x, and a local iterate on a
device.
`

const allDataNotes = `Every step uses all of the device's data (batch 0), so a query costs
a whole pass over them: compare runs by samples as well as by queries.
`

const relayedNotes = `Clients have their own directions, and a record has the scalars of all of
them: with 10 contributors 50 scalars each, 2 KB, from which a replica generates 500
directions. Every device can see each contributor's scalars. The replay is exactly the
mean of the local models (line 20), also with momentum, weight decay and prox, which
are linear.`

const sharedNotes = `This variant shares directions, which the paper does not: a record has 50
mean scalars whatever the cohort, and a replica generates 50 directions.
The replay is exactly the mean of the local models (line 20). But all clients probe the
same 50 directions, so more clients average over more data and not over more
directions: the estimate is noisier at the same number of queries.`
