package valid

import (
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// FrameBytes bounds the bytes of the frames that a round of p needs: its announcement with the
// last record, which may be the plan, and those before it that announce_budget allows; and what
// a device sends. A broker whose max_payload is smaller cannot carry the run.
func FrameBytes(p *plan.Plan) uint64 {
	const head, recordHead = 128, 3 // of a reply or a piece; of a record in a frame
	first := wire.Record{N: 1, Kind: wire.KindPlan, Plan: p}
	record := max(RecordBytes(p), uint64(len(first.Append(nil))))
	most := min(wire.MaxFrame, wire.MaxHead+recordHead+record+uint64(p.AnnounceBudget))
	sent := head + 2*termBytes(p, p.Steps)
	if !p.SendsControl() {
		sent -= termBytes(p, p.Steps)
	}
	if p.SendsVectors() {
		sent = head // pieces are as long as the broker takes
	}
	return max(most, maskedBytes(p), min(wire.MaxFrame, sent))
}

// maskedBytes bounds the frames of secure aggregation: a device's shares for its neighbors, and
// their keys, which take less. Masked scalars are 4 bytes each, and so is the loss.
func maskedBytes(p *plan.Plan) uint64 {
	if p.Secure == 0 {
		return 0
	}
	const head, share, neighbors = 128, 80, 128 // the most neighbors of 4096 devices
	const tag = 16
	scalars := 4*(uint64(p.Steps)*uint64(p.MaxPerturbations())+1) + tag
	return head + max(scalars, share*neighbors)
}
