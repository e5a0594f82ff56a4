package coordinator

import (
	"log/slog"

	"github.com/zofl/zofl/plan"
)

// warnUnbound warns if one device can ruin the run although the plan could prevent that. Plans with
// secure aggregation or noise cannot have bounds, and vectors have no usual length to bound by.
func warnUnbound(log *slog.Logger, p *plan.Plan) {
	if p.Bound > 0 || p.SendsVectors() || p.Secure > 0 || p.DPClip > 0 || p.Members == 1 {
		return
	}
	log.Warn("one device that lies can spoil this run: its plan has no bound",
		"remedy", "new plans: preset.New or Guard; this run: change bound=8 claim_bound=8")
}
