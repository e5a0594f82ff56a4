package valid

import (
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/stats"
	"github.com/zofl/zofl/wire"
)

// FrameBytes bounds the bytes of the frames that a round of p needs: the announcement with the last
// record (the plan, or a round's) and the earlier records that announce_budget allows, and the
// frames that a device sends. A broker whose max_payload is smaller cannot carry the run.
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
		sent = head // a device cuts a vector into pieces that the broker accepts
	}
	return max(most, maskedBytes(p), min(wire.MaxFrame, sent), columnBytes(p))
}

// columnBytes bounds the frames in which devices find statistics: their answers, and the record
// with the result.
func columnBytes(p *plan.Plan) uint64 {
	if p.Columns == 0 || len(p.Stats) > 0 {
		return 0
	}
	const head, column = 256, 56
	record := min(wire.MaxFrame, wire.MaxHead+head+column*uint64(p.Columns)+uint64(p.AnnounceBudget))
	return max(record, head+4*uint64(stats.Values(p)))
}

// maskedBytes bounds the frames of secure aggregation: a device's masked vector, its shares for its
// neighbors, and the keys of its neighbors (shorter than the shares). A masked scalar has 4 bytes,
// and so has the masked loss.
func maskedBytes(p *plan.Plan) uint64 {
	if p.Secure == 0 {
		return 0
	}
	const head, share, neighbors = 128, 80, 128 // the most neighbors of 4096 devices
	const tag = 16
	scalars := 4*(uint64(p.Steps)*uint64(p.MaxPerturbations())+1) + tag
	return head + max(scalars, share*neighbors)
}
