package preset

import "github.com/zofl/zofl/plan"

// beyondPresets are methods of no paper. Experiments of this repository found them.
var beyondPresets = []Info{{
	Name:   "zofl",
	Source: "no paper: of all presets it needs the fewest queries here, and no tuning",
	Notes: `Rademacher directions, forward differences, K = 1, P = 10, scalars of 8 bits, and
normalized momentum: m is the momentum of the mean estimate, V a running mean of the
squared scalars, and a round moves x by -a m/sqrt(V), both bias-corrected. The move does
not depend on the size of the loss.
mu=auto: before round 1 each device evaluates 19 losses along one direction. The
coordinator takes the largest mu whose differences are straight enough. If slopes would
not fit 16 bits, it takes another unit of losses, too.
step=auto: rounds 1 to 5 leave x where it is. Then each device evaluates 17 losses along
the first move. The coordinator takes the step with the least loss, or the largest that
noise does not tell from it. From then on a shrinks as 1/sqrt(1+n/30) in round n and, if
rounds is set, linearly over the last third of them. The slopes of the loss along the
momentum correct it. A number for mu or step turns its search off.
Up to 50 parameters step_after is 2, and below 20 it is 1, with P of d/2, at least 4, and
beta1 0.7: so many rounds leave x where it is, and the first move goes to where the loss
was least. At d = 6 a device spends 41 evaluations before that round, not 91.
groups=auto: in rounds 1 to 3 all devices of a round probe the same directions. Then
either each device gets directions of its own, or all go on sharing. The scalars of these
rounds decide that, and later the scalars of a shared round now and then. The noise of a
round is (|g|^2 + s^2/B + v)/(M P) along own directions, and (|g|^2 + s^2/(M B))/P along
shared ones. M is the number of contributors, B that of samples in a minibatch, g the
mean gradient, s^2 the variance of one sample's gradient, and v says by how much the
gradients of devices differ where all take part. As the model learns, g falls, and s and
v do not. So the coordinator takes own directions if they will still have less noise once
|g|^2 is 1/(2 sqrt(M-1)) of what it is. They do with many contributors, large batches
such as the 200 here, and alike data. It gives them up once they have more noise.
groups=auto needs roster=dense and at most 128 devices a round, and takes no late work or
median. For other plans zofl plan writes another sharing, and says so. With an open
roster, or where more devices count, each draws one of 16 groups or so, which share
directions: beyond 160 directions a round (P times the groups) more of them gain less
than they cost each device in replay and bytes. Among alike devices
sharing=per-client groups=none regroup=0 precision=int4 takes the fewest bytes.
For the last points of accuracy set step to a number, with step_decay=cosine floor=0.05
and server_decay=0.03: for the MNIST CNN step=0.12, P = 19 and 1,300 rounds.
Memory: x and m, 2 d in every replica, and d for a flat loss. Work: a replica generates
contributors*P directions a record, or P if devices share them.`,
	apply: func(p *plan.Plan) {
		normalized(p)
		m := &manners[0]
		p.Sharing, p.Transport, p.Precision = m.Sharing, m.Transport, m.Precision
		p.Groups, p.Regroup = m.Groups, m.Regroup
	},
}, {
	Name:   "zofl-shared",
	Source: "no paper: zofl with the directions and the mean of DeComFL",
	Notes: `As zofl, but all devices probe the same directions, and a record has the mean of their
scalars, of half precision. Among many devices whose data are alike it ends less
accurate. Bytes and work of a round do not grow with the number of contributors, and
median, trimmed-mean and open rosters can be set.
Memory: x and m, 2 d in every replica, and d for a flat loss. Work: P directions a
record.`,
	apply: func(p *plan.Plan) {
		normalized(p)
		p.Sharing, p.Transport, p.Precision = plan.SharedDirections, plan.Mean, plan.Half
	},
}, {
	Name:   "decomfl-adam",
	Source: "no paper; DeComFL with parts of other methods, found by the experiment beyond",
	Notes: `DeComFL with shared directions, the mean of scalars and K = 1, and four changes:
forward differences with 19 directions, which cost the same 20 queries as 10 central
ones; Rademacher directions, of which a replica generates 8 at a time; scalars of half
precision, so that 19 take as many bytes as 10; and Adam on the round's move in place of
momentum, as in ZO-AdaFL (2)-(4).
Results on MNIST with the CNN of 28,938 parameters, IID, 10 clients, batch 8, after
2,000 queries of each client: accuracy 0.713 (loss 1.14), with server_step 4e-3 0.742
(0.79). DeComFL with P = 10, central differences, torch momentum 0.9 and its best step
reaches 0.641 (1.40):
  go -C papers run -tags openblas ./cmd/paper run beyond --short
Three seeds with other directions reach 0.725 [0.722-0.729] against 0.605 [0.585-0.618].
With 10 of 100 clients and batch 32, as the authors of DeComFL run it, one run of
experiment beyond, reduced to this preset, reaches 0.801 (0.73) after 100 rounds and
0.860 (0.48) after 200; the three runs of experiment decomfl-mnist at their step 5e-4
reach 0.66 and 0.79 to 0.81. Bytes a round are about the same.
On softmax, forward differences alone raise 0.786 to 0.841 in 150 rounds (one seed), and
Adam does no better than momentum. A quarter-size CNN diverged with momentum at twice
its best step and fell back without momentum; Adam was stable at all three steps tried.
Traps: a half reaches to 65504, and larger scalars are refused. Forward differences have
a bias of order mu: choose mu with care where losses are sharp. The step size to tune is
server_step; on softmax 3e-3 was the best of 1e-3, 3e-3 and 1e-2. step only matters
relative to server_epsilon.
A first search, with one seed each, found no gain from directions guided by the last
moves (worse), a seed pool, AMSGrad and Yogi (equal), or larger P. K = 4 with momentum
was equal at the same number of queries, with fewer messages.
Memory: x, m and v, 3 d in every replica. Work: P directions a record.`,
	apply: func(p *plan.Plan) {
		p.Sharing, p.Distribution, p.Difference = plan.SharedDirections, plan.Rademacher,
			plan.Forward
		p.Mu, p.Steps, p.Perturbations, p.Batch = 1e-3, 1, 19, 32
		p.Rule, p.StepSize = plan.SGD, 1e-3
		p.ServerRule, p.ServerStep = plan.ServerAdam, 2e-3
		p.ServerBeta1, p.ServerBeta2, p.ServerEpsilon = 0.9, 0.99, 1e-12
		p.Transport, p.Aggregator, p.Weights = plan.Mean, plan.WeightedMean, plan.Equal
		p.Precision, p.MaxScalar = plan.Half, 65504
	},
}}

// normalized sets the fields that zofl and zofl-shared share.
func normalized(p *plan.Plan) {
	p.Distribution, p.Difference = plan.Rademacher, plan.Forward
	p.Mu, p.MuAuto, p.Steps, p.Perturbations, p.Batch = 0, 1, 1, 10, 200
	p.Rule, p.StepSize, p.StepAuto = plan.SGD, 0, 1
	p.ServerRule, p.ServerBeta1, p.ServerBeta2 = plan.ServerNormalized, 0.9, 0.99
	p.Aggregator, p.Weights, p.MaxScalar = plan.WeightedMean, plan.Equal, 65504
	Overture(p, 0)
}
