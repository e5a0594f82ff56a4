package valid

import "github.com/zofl/zofl/wire"

// FrameBytes bounds the bytes of the frames that a round of p needs: its announcement with the
// last record, which may be the plan, and those before it that announce_budget allows; and what
// a device sends. A broker whose max_payload is smaller cannot carry the run.
func FrameBytes(p *wire.Plan) uint64 {
	const head, recordHead = 128, 3 // of a reply or a piece; of a record in a frame
	first := wire.Record{N: 1, Kind: wire.KindPlan, Plan: p}
	record := max(RecordBytes(p), uint64(len(first.Append(nil))))
	most := min(wire.MaxFrame, wire.MaxHead+recordHead+record+uint64(p.AnnounceBudget))
	sent := head + 2*termBytes(p, p.Steps)
	if !p.SendsControl() {
		sent -= termBytes(p, p.Steps)
	}
	if p.SendsVectors() {
		sent = wire.MaxPiece + head
	}
	return max(most, min(wire.MaxFrame, sent))
}
