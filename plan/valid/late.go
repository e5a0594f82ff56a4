package valid

import (
	"fmt"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// lateRefusals are of plans that let late contributions count.
var lateRefusals = append(of(late, []refusal{
	{"late", onDense, nil, "transport=dense takes no late work"},
	{"late", onScalars, func(p *plan.Plan) bool { return p.Control != plan.NoControl },
		"late work needs control=none"},
	{"late", onScalars, func(p *plan.Plan) bool { return p.Distribution == plan.Subspace },
		"late work excludes distribution=subspace"},
	{"late", onScalars, func(p *plan.Plan) bool {
		return p.Aggregator == plan.Median || p.Aggregator == plan.TrimmedMean
	},
		"late work needs a mean"},
	{"late", onRelay, func(p *plan.Plan) bool { return p.Precision.Quantized() },
		"late work needs precision=single or precision=half"},
}), []refusal{
	{"async", onAll, func(p *plan.Plan) bool { return p.Async > 0 && p.Late == 0 },
		"it needs late above 0"},
}...)

func late(p *plan.Plan) bool { return p.Late > 0 }

// checkLate keeps records of transport=mean within MaxRecord, even if each of the last Late
// records has late contributions.
func checkLate(p *plan.Plan) error {
	if p.Late == 0 || p.Transport != plan.Mean {
		return nil
	}
	if size := RecordBytes(p); size > wire.MaxRecord {
		return fault("late", p.Late, fmt.Sprintf(
			"a mean and the late contributions to %d records can take %d bytes of a record, "+
				"and the limit is %d",
			p.Late, size, wire.MaxRecord))
	}
	return nil
}
