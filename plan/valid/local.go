package valid

import (
	"fmt"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

var localRules = []rule{
	{when: "rule=adam", needs: "transport=dense"},
	{when: "rule=sign", needs: "transport=dense",
		what: "rule=sign needs transport=dense"},
	{when: "control=scaffold-2 transport!=dense", own: checkVariates},

	{when: "beta", needs: "rule!=sgd rule!=sign"},
	{when: "rule!=sgd rule!=sign", needs: "beta>0 beta<1", at: "beta",
		what: "this rule needs one above 0 and below 1"},
	{when: "beta2", needs: "rule=adam"},
	{when: "rule=adam", needs: "beta2>0 beta2<1", at: "beta2"},
	{when: "epsilon", needs: "rule=adam"},
	{when: "rule=adam", needs: "epsilon>0", at: "epsilon"},
	{when: "prox", needs: "steps>1"},

	{when: "control transport=relay", needs: "sharing=shared"},
	{when: "control=scaffold-2", needs: "distribution!=subspace"},
	{when: "control=scaffold-2 transport!=dense", needs: "roster=dense"},
	{when: "control=scaffold-2 transport!=dense", needs: "weights=equal"},
	{when: "control", needs: "aggregator=weighted-mean"},
	{when: "control=svrg", needs: "steps>1"},

	{when: "step_decay=cosine", needs: "rounds>0", at: "rounds"},
	{when: "floor", needs: "step_decay=cosine"},
}

// checkVariates returns an error if a record of control=scaffold-2 could exceed MaxRecord when each
// contributor's control variate is along directions of another record.
func checkVariates(p *plan.Plan) error {
	size := RecordBytes(p)
	if size <= wire.MaxRecord {
		return nil
	}
	return fault("target", p.Target, fmt.Sprintf("a mean and %d contributors' control variates can "+
		"take %d bytes of a record, and the limit is %d", p.Counted(), size-recordHead,
		wire.MaxRecord-recordHead))
}
