package cost_test

import (
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
)

// A vectorCost has the expected memory for a plan: the vectors of every replica, the further
// vectors of a device, the scratch blocks, and other bytes, for a pool or for vectors in transit.
type vectorCost struct {
	name                   string
	plan                   plan.Plan
	vectors, local, blocks uint64
	bytes                  uint64
}

// TestCostOfVectors counts the vectors that every replica has, the further vectors of a device with
// a streaming loss, scratch blocks, and other bytes.
func TestCostOfVectors(t *testing.T) {
	const d, block, n = 1 << 20, 4096, 4096
	tests := []vectorCost{
		{"sgd, K = 1", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 1}, LocalFields: plan.LocalFields{Rule: plan.SGD},
		}, 1, 0, 1, 0},
		{"sgd", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 5}, LocalFields: plan.LocalFields{Rule: plan.SGD},
		}, 1, 1, 1, 0},
		{"momentum, K = 1", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 1}, LocalFields: plan.LocalFields{Rule: plan.Momentum},
		}, 2, 0, 1, 0},
		{"torch momentum", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 5}, LocalFields: plan.LocalFields{Rule: plan.TorchMomentum},
		}, 2, 2, 1, 0},
		{"prox", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 5}, LocalFields: plan.LocalFields{Rule: plan.SGD, Prox: 1},
		}, 1, 1, 3, 0},
		{"scaffold-1, K = 1", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 1},
			LocalFields: plan.LocalFields{Rule: plan.SGD, Control: plan.ScaffoldPoint},
		}, 1,
			0, 3, 0},
		{"scaffold-1", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 5},
			LocalFields: plan.LocalFields{Rule: plan.SGD, Control: plan.ScaffoldPoint},
		}, 1, 2, 3,
			0},
		{"scaffold-2", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 5},
			LocalFields: plan.LocalFields{Rule: plan.SGD, Control: plan.ScaffoldMean},
		}, 2, 2, 3, 0},
		{"svrg", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 5},
			LocalFields: plan.LocalFields{Rule: plan.SGD, Control: plan.SVRG},
		}, 1, 2, 3, 0},
		{"server sgd", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 5}, LocalFields: plan.LocalFields{Rule: plan.SGD},
			ServerFields: plan.ServerFields{ServerRule: plan.ServerSGD},
		}, 1, 1, 2, 0},
		{"server sign", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 5}, LocalFields: plan.LocalFields{Rule: plan.SGD},
			ServerFields: plan.ServerFields{ServerRule: plan.ServerSign},
		}, 1, 1, 2,
			0},
		{"server momentum", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 5}, LocalFields: plan.LocalFields{Rule: plan.SGD},
			ServerFields: plan.ServerFields{ServerRule: plan.ServerMomentum},
		}, 2,
			1, 2, 0},
		{"adam", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 5}, LocalFields: plan.LocalFields{Rule: plan.SGD},
			ServerFields: plan.ServerFields{ServerRule: plan.ServerAdam},
		}, 3, 1, 2, 0},
		{"normalized", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 1}, LocalFields: plan.LocalFields{Rule: plan.SGD},
			ServerFields: plan.ServerFields{ServerRule: plan.ServerNormalized},
		}, 2,
			0, 1, 0},
		{"yogi", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 5}, LocalFields: plan.LocalFields{Rule: plan.SGD},
			ServerFields: plan.ServerFields{ServerRule: plan.ServerYogi},
		}, 3, 1, 2, 0},
		{"adagrad", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 5}, LocalFields: plan.LocalFields{Rule: plan.SGD},
			ServerFields: plan.ServerFields{ServerRule: plan.ServerAdaGrad},
		}, 3, 1, 2, 0},
		{"amsgrad", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 5}, LocalFields: plan.LocalFields{Rule: plan.SGD},
			ServerFields: plan.ServerFields{ServerRule: plan.ServerAMSGrad},
		}, 4, 1, 2,
			0},
		// 45 rows and the path; z in float32, y, two sums and the path in float64
		{"cma, limited", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 1, Difference: plan.NoDifference, Perturbations: 45},
			LocalFields: plan.LocalFields{Rule: plan.SGD},
			ServerFields: plan.ServerFields{ServerRule: plan.ServerCMA,
				Covariance: plan.LimitedCovariance},
		}, 47, 1, 1, (4 + 4*8) * d},
		{"subspace",
			plan.Plan{
				ProbeFields: plan.ProbeFields{Steps: 5, Distribution: plan.Subspace, SubspaceMoves: 5},
				LocalFields: plan.LocalFields{Rule: plan.SGD},
			}, 11,
			1, 2, 0},
		{"everything",
			plan.Plan{
				ProbeFields:  plan.ProbeFields{Steps: 5, Distribution: plan.Subspace, SubspaceMoves: 3},
				LocalFields:  plan.LocalFields{Rule: plan.Momentum, Prox: 1, Control: plan.ScaffoldPoint},
				ServerFields: plan.ServerFields{ServerRule: plan.ServerAMSGrad},
			}, 11, 3, 5, 0},
		{"pool", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 1, Pool: n}, LocalFields: plan.LocalFields{Rule: plan.SGD},
		}, 1, 0, 2, 2 * 8 * (n + 1)},
		{"pool with momentum", plan.Plan{
			ProbeFields: plan.ProbeFields{Steps: 1, Pool: n},
			LocalFields: plan.LocalFields{Rule: plan.Momentum},
		}, 2, 0, 2,
			3 * 8 * (n + 1)},
		{"pool on the sphere",
			plan.Plan{
				ProbeFields: plan.ProbeFields{Steps: 1, Pool: n, Distribution: plan.Sphere},
				LocalFields: plan.LocalFields{Rule: plan.SGD},
			}, 1, 0, 2,
			2*8*(n+1) + 8*n},
		{"pool of given",
			plan.Plan{
				ModelFields: plan.ModelFields{Initial: plan.Given},
				ProbeFields: plan.ProbeFields{Steps: 5, Pool: n},
				LocalFields: plan.LocalFields{Rule: plan.SGD, Prox: 1},
			}, 2, 1, 3,
			3 * 8 * (n + 1)},
	}
	dense := plan.Plan{
		ProbeFields:     plan.ProbeFields{Steps: 5},
		AggregateFields: plan.AggregateFields{Transport: plan.DenseVectors},
	}
	with := func(change func(*plan.Plan)) plan.Plan {
		p := dense
		change(&p)
		return p
	}
	const vector = 2 * 4 * d // sent and fetched
	tests = append(tests, []vectorCost{
		{"dense", with(func(p *plan.Plan) { p.Rule, p.Steps = plan.SGD, 1 }), 1, 2, 1, vector},
		{"dense momentum with prox", with(func(p *plan.Plan) { p.Rule, p.Prox = plan.Momentum, 1 }),
			1, 3, 1, vector},
		{"dense adam", with(func(p *plan.Plan) { p.Rule = plan.LocalAdam }), 1, 4, 1, vector},
		{"dense scaffold-1",
			with(func(p *plan.Plan) { p.Rule, p.Control = plan.SGD, plan.ScaffoldPoint }), 2, 4, 1,
			vector},
		{"dense svrg", with(func(p *plan.Plan) { p.Rule, p.Control = plan.SGD, plan.SVRG }), 2, 3, 1,
			vector},
		{"dense scaffold-2",
			with(func(p *plan.Plan) { p.Rule, p.Control = plan.LocalAdam, plan.ScaffoldMean }), 2,
			7, 1, 2 * vector},
	}...)
	for _, test := range tests {
		test.plan.Dim = d
		got := cost.Of(&test.plan, cost.Input{})
		if got.Vectors != test.vectors || got.Local != test.local {
			t.Errorf("%s: got %d and %d vectors, want %d and %d", test.name, got.Vectors, got.Local,
				test.vectors, test.local)
		}
		streaming := 4*((test.vectors+test.local)*d+test.blocks*block) + test.bytes
		flat := streaming + 4*d
		if test.plan.ServerRule == plan.ServerCMA {
			flat = streaming // its candidates are flat vectors
		}
		if got.Streaming != streaming || got.Flat != flat {
			t.Errorf("%s: got %d and %d bytes, want %d and %d", test.name, got.Streaming, got.Flat,
				streaming, flat)
		}
	}
}

// TestCostOfAggregators: with an aggregator that needs all contributions at once, the coordinator's
// memory holds them all.
func TestCostOfAggregators(t *testing.T) {
	for aggregator, want := range map[plan.Aggregator]uint64{
		plan.WeightedMean: 48 * 10, plan.ClippedMean: 48 * 10, plan.Median: 4 * 10 * 10,
		plan.TrimmedMean: 4 * 10 * 10,
	} {
		p := testPlan(t)
		p.Aggregator = aggregator
		if got := cost.Of(p, cost.Input{}).Coordinator; got != want {
			t.Errorf("%v: got %d bytes, want %d", aggregator, got, want)
		}
	}
}
