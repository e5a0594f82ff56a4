//go:build !race

package plainrun

import "github.com/zofl/zofl/plan"

// A feature is an optional part of a run, with the packages that only this feature needs.
type feature struct {
	name     string
	has      func(*plan.Plan) bool
	packages []string
}

// never is for features that a plain run lacks whatever its plan, because a Config enables them.
func never(*plan.Plan) bool { return false }

var features = []feature{
	{"robust bounds",
		func(p *plan.Plan) bool { return p.Bound > 0 || p.ClaimBound > 0 || p.Trust > 0 },
		[]string{"coordinator/internal/robust"}},
	{"an open roster",
		func(p *plan.Plan) bool { return p.Roster == plan.OpenRoster },
		[]string{"coordinator/internal/participation"}},
	{"differential privacy",
		func(p *plan.Plan) bool { return p.DPClip > 0 },
		[]string{"plan/dp", "internal/dpnoise"}},
	{"secure aggregation",
		func(p *plan.Plan) bool { return p.Secure > 0 },
		[]string{"client/internal/secagg", "coordinator/internal/secagg", "wire/secagg"}},
	{"groups",
		func(p *plan.Plan) bool { return p.Groups > 0 },
		[]string{"coordinator/internal/grouping", "internal/grouping"}},
	{"classes",
		func(p *plan.Plan) bool { return p.Classes > 0 },
		[]string{"coordinator/internal/perclass", "internal/perclass"}},
	{"surveys", // of devices, for mu, the step or groups
		func(p *plan.Plan) bool {
			return p.MuAuto > 0 || p.StepAuto > 0 || p.Groups > 0 || p.Columns > 0
		},
		[]string{"coordinator/internal/stepsize", "wire/survey"}},
	{"statistics of columns",
		func(p *plan.Plan) bool { return p.Columns > 0 },
		[]string{"stats"}},
	{"digests",
		func(p *plan.Plan) bool { return p.DigestEvery > 0 },
		[]string{"client/replica/internal/digest", "coordinator/internal/digests"}},
	{"vectors",
		func(p *plan.Plan) bool { return p.Transport == plan.DenseVectors },
		[]string{"client/internal/localrule", "coordinator/internal/uploads"}},
	{"late work",
		func(p *plan.Plan) bool { return p.Late > 0 },
		[]string{"coordinator/internal/late"}},
	{"evaluation",
		func(p *plan.Plan) bool { return p.EvalEvery > 0 },
		[]string{"coordinator/internal/evaluation"}},
	{"evolution strategies",
		func(p *plan.Plan) bool { return p.ServerRule == plan.ServerCMA },
		[]string{"client/replica/internal/evolution", "coordinator/internal/cma"}},
	{"directions of rank 1",
		func(p *plan.Plan) bool { return p.Distribution == plan.LowRank },
		[]string{"prng/lowrank"}},
	{"surrogates",
		func(p *plan.Plan) bool { return p.Estimator == plan.Surrogate },
		[]string{"internal/surrogate"}},
	{"steps that change",
		func(p *plan.Plan) bool { return p.StepDecay > plan.InverseSqrt },
		[]string{"plan/internal/schedule"}},
	{"scalars of few bits",
		func(p *plan.Plan) bool { return p.Precision > 0 },
		[]string{"internal/half"}},
	{"a secret run key", (*plan.Plan).Private, []string{"client/internal/seal"}},
	{"signatures", never,
		[]string{"client/internal/verify", "coordinator/internal/signer", "wire/signed"}},
	{"what a device tells", never, []string{"client/internal/notify", "wire/deviceinfo"}},
	{"a store", never,
		[]string{"client/internal/files", "client/replica/internal/packed", "internal/dirstore",
			"internal/disk"}},
	{"a network", never, []string{"coordinator/internal/keepalive"}},
	{"several coordinators", never, []string{"coordinator/internal/leader", "internal/leader"}},
	{"gradients", never, []string{"client/internal/directional"}},
	{"plan files", never, []string{"plan/planfile", "internal/textfile"}},
	{"prices", never, []string{"plan/cost"}},
	{"refusals", never, []string{"plan/plancheck"}},
}

// core are the packages that every run uses.
var core = []string{
	"bus", "client", "client/internal/memlimit", "client/internal/isolate",
	"client/internal/follow", "client/internal/link", "client/internal/outbox",
	"client/internal/probe", "client/internal/retry", "client/objective", "client/replica",
	"client/replica/internal/layout", "client/replica/internal/server", "coordinator", "plan",
	"coordinator/internal/aggregate", "coordinator/internal/logindex", "coordinator/internal/presence",
	"coordinator/internal/engine", "coordinator/internal/cohort",
	"coordinator/internal/gather", "coordinator/internal/loss", "coordinator/internal/contribution",
	"coordinator/internal/policies",
	"coordinator/internal/median", "coordinator/internal/quorum", "coordinator/internal/ratelimit",
	"internal/share",
	"coordinator/internal/catchup", "coordinator/report", "coordinator/runlog", "internal/isa",
	"internal/parallel", "mathx", "prng", "wire", "internal/footprint", "internal/codec",
	"plan/internal/scalar", "wire/internal/shuffle", "wire/compact", "plan/preset",
	"internal/subjects", "plan/valid",
}
