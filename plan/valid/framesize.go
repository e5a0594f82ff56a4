package valid

import (
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// FrameBytes bounds the bytes of the frames that a round of p needs: the announcement with the last
// record (the plan, or a round's) and the earlier records that announce_budget allows, and the
// frames that a device sends. A broker whose max_payload is smaller cannot carry the run.
func FrameBytes(p *plan.Plan) uint64 {
	return max(announced(p, uint64(p.AnnounceBudget)), SentBytes(p))
}

// ReceivedBytes bounds the bytes of the frames that come to a device in a run of p: announcements,
// and the answer to a join. A device says itself how long other answers may be.
func ReceivedBytes(p *plan.Plan) uint64 {
	const head = 32 // of an answer to a join, besides the plan and the announcement
	return announced(p, max(uint64(p.AnnounceBudget), head))
}

// announced bounds the bytes of an announcement with the last record and some bytes more, and of
// what the coordinator sends for secure aggregation.
func announced(p *plan.Plan, more uint64) uint64 {
	const recordHead = 3 // of a record in a frame
	first := wire.Record{N: 1, Kind: wire.KindPlan, Plan: p}
	record := max(RecordBytes(p), uint64(len(first.Append(nil))))
	if findsStats(p) {
		const head, column = 256, 56 // of the change that records the statistics
		record = max(record, head+column*uint64(p.Columns))
	}
	return max(min(wire.MaxFrame, wire.MaxHead+recordHead+record+more), maskedBytes(p))
}

// SentBytes bounds the bytes of the frames that a device sends in a round of p, or for a survey.
// With transport=dense a device cuts a vector into pieces that the broker accepts, and SentBytes
// leaves their data out.
func SentBytes(p *plan.Plan) uint64 {
	const head = 128 // of a reply or a piece
	sent := head + termBytes(p, p.Steps)
	switch {
	case p.SendsVectors():
		sent = head
	case p.SendsControl():
		sent += termBytes(p, p.Steps)
	}
	values := 0
	for _, kind := range surveys(p) {
		values = max(values, kind.ValuesOf(p))
	}
	return max(min(wire.MaxFrame, max(sent, head+4*uint64(values))), maskedBytes(p))
}

// surveys returns the kinds of surveys that a run of p may make.
func surveys(p *plan.Plan) (kinds []survey.Kind) {
	for _, s := range []struct {
		kind survey.Kind
		made bool
	}{
		{survey.Step, p.StepAuto > 0}, {survey.Mu, p.MuAuto > 0 || survey.Sigma(p)},
		{survey.Sketch, p.Groups == grouping.Sketch}, {survey.Columns, findsStats(p)},
	} {
		if s.made {
			kinds = append(kinds, s.kind)
		}
	}
	return kinds
}

// findsStats says whether devices of a run find the statistics of their data.
func findsStats(p *plan.Plan) bool { return p.Columns > 0 && len(p.Stats) == 0 }

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
