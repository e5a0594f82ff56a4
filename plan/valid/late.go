package valid

import (
	"fmt"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

var lateRules = []rule{
	{when: "late", needs: "transport!=dense"},
	{when: "late", needs: "control=none"},
	{when: "late", needs: "distribution!=subspace"},
	{when: "late", needs: "aggregator!=median aggregator!=trimmed-mean"},
	{when: "late transport=relay precision!=single precision!=half",
		what: "it needs precision=single or precision=half"},
	{when: "async", needs: "late>0"},
	{when: "late", needs: "sharing!=groups"},
	{when: "late transport=mean", own: checkLate},
}

// checkLate returns an error if a record of transport=mean could exceed MaxRecord when each of the
// last Late records has late contributions.
func checkLate(p *plan.Plan) error {
	size := RecordBytes(p)
	if size <= wire.MaxRecord {
		return nil
	}
	return fault("late", p.Late, fmt.Sprintf("a mean and the late contributions to %d records can "+
		"take %d bytes of a record, and the limit is %d", p.Late, size, wire.MaxRecord))
}
