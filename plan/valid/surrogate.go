package valid

import (
	"slices"

	"github.com/zofl/zofl/plan"
)

// maxFeatureElements bounds features*dim, the random numbers of a surrogate's features: 1 GiB.
const maxFeatureElements = 1 << 28

var surrogateRules = slices.Concat([]rule{
	{when: "estimator=surrogate", needs: "transport=dense"},
	{when: "estimator=surrogate", needs: "mu_auto!=on", at: "mu_auto"},
	{when: "estimator=surrogate", needs: "control=none", at: "control"},
	{when: "estimator=surrogate", at: "perturbations",
		but:  func(p *plan.Plan) bool { return p.MaxPerturbations() == 1 },
		what: "estimator=surrogate probes no directions"},
	{when: "estimator=surrogate", needs: "sharing=shared", at: "sharing"},
	{when: "estimator=surrogate", needs: "distribution!=lowrank", at: "distribution"},
	{when: "estimator=surrogate", needs: "features>0", at: "features"},
	{when: "features", but: func(p *plan.Plan) bool {
		return uint64(p.Features)*p.Dim <= maxFeatureElements
	}, what: "features*dim is limited to 268435456"},
	{when: "estimator=surrogate", needs: "length_scale>0", at: "length_scale"},
	{when: "estimator=surrogate", needs: "noise>0", at: "noise"},
	{when: "estimator=surrogate", needs: "window>1", at: "window"},
}, only("estimator=surrogate", "prior", "length_fit", "correction", "correction_at", "candidates",
	"features", "length_scale", "noise", "window"), []rule{
	{when: "active", needs: "active<=candidates", what: "it is above candidates"},
	{when: "around", needs: "around<=candidates", what: "it is above candidates"},
	{when: "candidates", needs: "radius>0", at: "radius"},
	{when: "radius", needs: "candidates>0"},
	{when: "estimator=surrogate active=0 around=0", at: "active",
		what: "estimator=surrogate needs active or around above 0"},
	{when: "correction=theory", needs: "heterogeneity>0", at: "heterogeneity"},
	{when: "heterogeneity", needs: "correction=theory"},
})
