package valid

import (
	"fmt"
	"slices"

	"github.com/zofl/zofl/plan"
)

// evolutionRules are the rules of server_rule=cma.
var evolutionRules = slices.Concat([]rule{
	{when: "server_rule=cma", needs: "difference=none", at: "difference"},
	{when: "difference=none", needs: "server_rule=cma"},
	{when: "mu", needs: "difference!=none"},
	{when: "mu_auto", needs: "difference!=none", what: "without differences there is no mu"},
	{when: "server_rule=cma", needs: "transport=mean", at: "transport"},
	{when: "server_rule=cma", needs: "sharing=shared", at: "sharing"},
	{when: "server_rule=cma", needs: "distribution=normal", at: "distribution"},
	{when: "server_rule=cma", needs: "steps=1", at: "steps"},
	{when: "server_rule=cma", needs: "rule=sgd", at: "rule"},
	{when: "server_rule=cma", needs: "weight_decay=0", at: "weight_decay",
		what: "server_rule=cma has no decay"},
	{when: "server_rule=cma", needs: "control=none", at: "control"},
	{when: "server_rule=cma", needs: "late=0", at: "late",
		what: "server_rule=cma ranks the candidates of its own record"},
	{when: "server_rule=cma", needs: "step_decay=constant", at: "step_decay"},
	{when: "server_rule=cma", needs: "perturbation_schedule=0", at: "perturbation_schedule",
		what: "server_rule=cma has no schedule of its candidates"},
	{when: "server_rule=cma", needs: "perturbations>=4", at: "perturbations"},
	{when: "server_rule=cma covariance=full", at: "covariance",
		but:  func(p *plan.Plan) bool { return p.Dim <= plan.MaxFull },
		what: "a record would take 2 dim^2 perturbations products: full allows 1000 parameters"},
	{when: "server_rule=cma segments", own: checkMuScales},
	{when: "restarts", own: checkRestarts},
}, only("server_rule=cma", "covariance", "perturbations_auto", "restarts"))

// checkMuScales refuses scales of mu where no mu is.
func checkMuScales(p *plan.Plan) error {
	for _, s := range p.Segments {
		if s.MuScale != 0 && s.MuScale != 1 {
			return fault("segments."+s.Name+".mu_scale", s.MuScale,
				"server_rule=cma has no mu: scale its candidates with step_scale")
		}
	}
	return nil
}

// checkRestarts returns an error if the last restart would have more than plan.MaxScalars
// candidates.
func checkRestarts(p *plan.Plan) error {
	most := uint64(p.Perturbations) << p.Restarts
	if most <= plan.MaxScalars {
		return nil
	}
	return fault("restarts", p.Restarts, fmt.Sprintf("each has twice the candidates, the last %d: "+
		"keep perturbations*2^restarts at most %d", most, plan.MaxScalars))
}
