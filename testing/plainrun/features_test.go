//go:build !race

package plainrun

import "github.com/zofl/zofl/wire"

// A feature is what a run may have or lack, and the packages that are there for it alone.
type feature struct {
	name     string
	has      func(*wire.Plan) bool
	packages []string
}

// never is for what a plain run lacks whatever its plan: it depends on a Config.
func never(*wire.Plan) bool { return false }

var features = []feature{
	{"robust bounds",
		func(p *wire.Plan) bool { return p.Bound > 0 || p.ClaimBound > 0 || p.Trust > 0 },
		[]string{"coordinator/internal/guard"}},
	{"differential privacy",
		func(p *wire.Plan) bool { return p.DPClip > 0 },
		[]string{"wire/dp", "wire/noise"}},
	{"secure aggregation",
		func(p *wire.Plan) bool { return p.Secure > 0 },
		[]string{"client/internal/mask", "coordinator/internal/vault", "wire/masked", "wire/secagg"}},
	{"groups",
		func(p *wire.Plan) bool { return p.Groups > 0 },
		[]string{"coordinator/internal/grouping", "wire/grouping"}},
	{"classes",
		func(p *wire.Plan) bool { return p.Classes > 0 },
		[]string{"coordinator/internal/classes", "wire/byclass"}},
	{"surveys", // of devices, for mu, the step or groups
		func(p *wire.Plan) bool { return p.MuAuto > 0 || p.StepAuto > 0 || p.Groups > 0 },
		[]string{"coordinator/internal/steer", "wire/survey"}},
	{"digests",
		func(p *wire.Plan) bool { return p.DigestEvery > 0 },
		[]string{"client/replica/internal/digest", "coordinator/internal/ballot"}},
	{"vectors",
		func(p *wire.Plan) bool { return p.Transport == wire.DenseVectors },
		[]string{"client/internal/descent"}},
	{"surrogates",
		func(p *wire.Plan) bool { return p.Estimator == wire.Surrogate },
		[]string{"mathx/surrogate"}},
	{"steps that change",
		func(p *wire.Plan) bool {
			return p.StepDecay > wire.InverseSqrt || p.Warmup > 0
		},
		[]string{"wire/internal/schedule"}},
	{"scalars of few bits",
		func(p *wire.Plan) bool { return p.Precision > 0 },
		[]string{"internal/half"}},
	{"a secret run key", (*wire.Plan).Private, []string{"client/internal/seal"}},
	{"signatures", never,
		[]string{"client/internal/ration", "coordinator/internal/notary", "wire/signed"}},
	{"what a device tells", never, []string{"client/internal/tell", "wire/about"}},
	{"a store", never,
		[]string{"client/internal/files", "client/replica/internal/packed", "internal/dirstore",
			"internal/disk"}},
	{"a network", never, []string{"coordinator/internal/pulse"}},
	{"several coordinators", never, []string{"coordinator/internal/senior", "wire/lead"}},
	{"gradients", never, []string{"client/internal/slope"}},
	{"plan files", never, []string{"wire/planfile"}},
	{"refusals", never, []string{"wire/plancheck"}},
}

// core are the packages that every run uses.
var core = []string{
	"bus", "client", "client/internal/consent", "client/internal/contain",
	"client/internal/follow", "client/internal/link", "client/internal/outbox",
	"client/internal/probe", "client/internal/retry", "client/objective", "client/replica",
	"client/replica/internal/layout", "client/replica/internal/server", "coordinator",
	"coordinator/internal/aggregate", "coordinator/internal/archive", "coordinator/internal/crowd",
	"coordinator/internal/engine",
	"coordinator/internal/gather", "coordinator/internal/intake", "coordinator/internal/quota",
	"coordinator/internal/serve", "coordinator/report", "coordinator/runlog", "internal/isa",
	"internal/parallel", "mathx", "prng", "wire", "wire/footprint", "wire/internal/codec",
	"wire/internal/scalar", "wire/internal/shuffle", "wire/lean", "wire/preset",
	"wire/subjects", "wire/valid",
}
