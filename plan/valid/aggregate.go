package valid

import (
	"fmt"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

var aggregateRules = []rule{
	{when: "transport=mean", needs: "sharing=shared"},
	{when: "transport=relay", needs: "sharing!=shared"},
	{when: "transport=relay sharing!=groups", needs: "aggregator!=median aggregator!=trimmed-mean",
		at: "aggregator", what: "transport=relay needs a mean"},
	{when: "weights=samples", needs: "aggregator!=median aggregator!=trimmed-mean"},
	{when: "aggregator=trimmed-mean", needs: "trim>0 trim<0.5", at: "trim"},
	{when: "trim", needs: "aggregator=trimmed-mean"},
	{when: "aggregator=trimmed-mean", at: "trim",
		but:  func(p *plan.Plan) bool { return float32(p.Trim*float32(p.Target)) >= 1 },
		what: "it cuts off no contributor"},
	{when: "aggregator=clipped-mean", needs: "clip>0", at: "clip"},
	{when: "clip", needs: "aggregator=clipped-mean"},
	{when: "precision=half", needs: "max_scalar<=65504", at: "max_scalar",
		what: "precision=half reaches to 65504"},
	{when: "transport=relay precision!=single", needs: "max_scalar<=65504", at: "max_scalar",
		what: "the scale of int8, int4 and int2 reaches to 65504"},
	{when: "transport=mean precision!=single precision!=half", at: "precision",
		what: "int8, int4 and int2 need transport=relay"},

	{when: "transport=dense", needs: "dense_keep>=2", at: "dense_keep"},
	{when: "dense_keep", needs: "transport=dense"},
	{when: "transport=dense", at: "dim",
		but:  func(p *plan.Plan) bool { return p.Object(0) <= plan.MaxDense },
		what: "transport=dense allows 16777216 numbers"},
	{when: "transport=dense", needs: "key_check=0", what: "transport=dense cannot be private"},
	{when: "transport=dense", needs: "pool=0"},
	{when: "transport=dense", needs: "distribution!=subspace"},
	{when: "transport=dense", needs: "server_rule=mean", at: "server_rule"},
	{when: "transport=dense", needs: "aggregator=weighted-mean", at: "aggregator"},
	{when: "transport=dense", needs: "precision=single", at: "precision"},
	{when: "transport=relay", own: checkRelay},
}

// checkRelay returns an error if a record of transport=relay could exceed MaxRecord.
func checkRelay(p *plan.Plan) error {
	size := RecordBytes(p)
	if size <= wire.MaxRecord {
		return nil
	}
	return fault("target", p.Target, fmt.Sprintf("relaying %d scalars of each contributor makes "+
		"records of %d bytes, and the limit is %d", p.Steps*p.MaxPerturbations(), size,
		wire.MaxRecord))
}
