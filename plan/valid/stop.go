package valid

import (
	"fmt"
	"slices"

	"github.com/zofl/zofl/plan"
)

var stopRules = []rule{
	{when: "stop_metric", own: checkStopMetric},
	{when: "stop_metric", needs: "eval_every>0", at: "eval_every"},
	{when: "patience", needs: "best", at: "best"},
}

func checkStopMetric(p *plan.Plan) error {
	if slices.Contains(p.Metrics, p.StopMetric) {
		return nil
	}
	return fault("stop_metric", p.StopMetric, fmt.Sprintf("it is none of metrics, which has %q",
		p.Metrics))
}
