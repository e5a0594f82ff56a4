package valid

import (
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
)

// recordHead bounds the bytes of a record without its terms and slots.
const recordHead = 128

// termBytes bounds the bytes that the scalars of one device, or of one group, for some
// steps take in a record.
func termBytes(p *plan.Plan, steps uint32) uint64 {
	const head = 16 // array, back, source, bin
	return head + uint64(steps)*uint64(p.TermPrecision().Bytes(int(p.MaxPerturbations())))
}

// RecordBytes bounds the bytes of a round's record. Package plan/cost computes the bytes of a
// particular round.
func RecordBytes(p *plan.Plan) uint64 {
	const weight, slot = 5, 5
	target := uint64(p.Counted())
	switch p.Transport {
	case plan.DenseVectors:
		return recordHead
	case plan.Relay:
		if p.Sharing == plan.GroupDirections {
			each := termBytes(p, p.Steps)
			if p.RelaysWeights() {
				each += weight
			}
			return recordHead + uint64(grouping.Count(p))*each
		}
		if p.Late > 0 && p.Async == 0 {
			target *= 2 // as many late contributions as timely ones
		}
		return recordHead + target*(termBytes(p, p.Steps)+weight)
	}
	switch p.Control {
	case plan.ScaffoldMean:
		return recordHead + (target+1)*termBytes(p, p.Steps) + target*slot
	case plan.ScaffoldPoint:
		return recordHead + termBytes(p, p.Steps) + termBytes(p, 1)
	}
	return recordHead + (1+uint64(p.Late))*termBytes(p, p.Steps)
}
