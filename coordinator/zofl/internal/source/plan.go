package source

import (
	"context"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// PlanOf reads the plan of a log, which says how to print its records: the precision of the
// scalars and the length of the vectors.
func PlanOf(ctx context.Context, src Source) (pl *plan.Plan, err error) {
	pl = &plan.Plan{}
	var failed error
	if base, _ := src.Base(); base != nil {
		p, err := base.Position()
		return &p.Plan, err
	}
	err = src.Read(ctx, 1, func(_ uint64, record []byte) bool {
		var r wire.Record
		if r, failed = wire.DecodeRecord(record); failed == nil && r.Plan != nil {
			pl = r.Plan
		}
		return false
	})
	if failed != nil {
		err = failed
	}
	return pl, err
}
