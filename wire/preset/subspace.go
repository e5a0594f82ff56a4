package preset

import "github.com/zofl/zofl/wire"

// subspacePresets are ZOFedHT and what its paper compares it with.
var subspacePresets = []Info{
	{Name: "zofedht", Source: "ZOFedHT, Algorithm 1 and equation (9)", Notes: subspaceNotes + relayedNotes, apply: zofedht},
	{Name: "zofedht-shared", Source: "ZOFedHT, Algorithm 1, with shared directions", Notes: subspaceNotes + sharedNotes, apply: sharing(zofedht)},
	{Name: "zofedavg-sgd", Source: "ZOFedHT section IV: ZOFedAvg-SGD", Notes: averageNotes + relayedNotes, apply: zofedavg},
	{Name: "zofedavg-sgd-shared", Source: "ZOFedHT section IV: ZOFedAvg-SGD, with shared directions", Notes: averageNotes + sharedNotes, apply: sharing(zofedavg)},
	{Name: "zofedavg-gd", Source: "ZOFedHT section IV: ZOFedAvg-GD", Notes: averageNotes + allDataNotes + relayedNotes, apply: allData(zofedavg)},
	{Name: "zofedavg-gd-shared", Source: "ZOFedHT section IV: ZOFedAvg-GD, with shared directions", Notes: averageNotes + allDataNotes + sharedNotes, apply: sharing(allData(zofedavg))},
}

// zofedavg is ZOFedHT with a = 0.
func zofedavg(p *wire.Plan) {
	p.Sharing, p.Distribution, p.Difference = wire.PerClient, wire.Normal, wire.Central
	p.Mu, p.Steps, p.Perturbations, p.Batch = 1e-4, 50, 1, 64
	p.Rule, p.Step, p.StepDecay = wire.SGD, 1, wire.InverseSqrt
	p.Transport, p.Aggregator, p.Weights = wire.Relay, wire.WeightedMean, wire.Equal
}

func zofedht(p *wire.Plan) {
	zofedavg(p)
	p.Distribution, p.SubspaceMoves, p.SubspaceShare = wire.Subspace, 5, 0.5
}

// allData is a method on all of a device's data at every step.
func allData(apply func(*wire.Plan)) func(*wire.Plan) {
	return func(p *wire.Plan) {
		apply(p)
		p.Batch = 0
	}
}

// sharing is a method along directions that all devices share.
func sharing(apply func(*wire.Plan)) func(*wire.Plan) {
	return func(p *wire.Plan) {
		apply(p)
		p.Sharing, p.Transport = wire.SharedDirections, wire.Mean
	}
}

const subspaceNotes = `Directions v ~ N(0, C), C = (1-a) I + a Q Q' (9), drawn as
sqrt(1-a) v1 + sqrt(a) Q v2; the columns of Q span the last tau moves of the model
(line 6), v1 alone before there are tau (line 10). Central difference (line 15), K
steps x -= eta g v (line 16), eta = eta0/sqrt(r), r the round from 1: the paper
counts from 0 and prints sqrt(r+1). The paper broadcasts Q, d*tau floats every tau
rounds; here every replica has the moves, so it never travels.
Defaults are section IV's: mu 1e-4, K = 50, batch 64, tau 5 (printed as L); it tunes
eta0 in {0.1, 1, 10} and a in {0.1, ..., 0.9}, here the middle, 1 and 0.5: tune both.
Traps: a near 1 hardly leaves the subspace (a = 1 is refused); the estimate's mean
is C times the gradient, longer in the subspace by 1/(1-a). On sparse data the paper
itself finds plain normal directions ahead in the long run. Line 3 samples clients
with replacement, a cohort here has each device once.
Memory: 2 tau d more in every replica, the basis and the moves since: 10 d at 5.
Work: up to tau more passes over d a direction, and a factorization of tau columns
every tau rounds.
`

const averageNotes = `ZOFedHT with a = 0: normal directions, central difference, K steps
x -= eta g z, eta = eta0/sqrt(r), r the round from 1 (the paper's r is from 0).
Defaults are section IV's: mu 1e-4, K = 50, batch 64; it tunes eta0 in
{0.1, 1, 10}, here 1: tune it. Memory: x, and a local iterate on a device.
`

const allDataNotes = `Every step is on all of the device's data (batch 0), so a query costs
what a pass over them costs: compare runs by samples as well as by queries.
`

const relayedNotes = `Clients have directions of their own and a record relays all their
scalars: 50 of each at 10 contributors are 2 KB, and a replica makes 500 directions a
record. Every device can see each contributor's scalars. The replay is exactly the
mean of the local models (line 20), with momentum, weight decay and prox as well,
which are linear.`

const sharedNotes = `This variant shares directions, which the paper does not: a record
carries the 50 mean scalars whatever the cohort, and a replica makes 50 directions.
The replay is exactly the mean of the local models (line 20); but as all clients probe
the same 50 directions, more clients average data and not directions, so the estimate
is noisier at the same queries.`
