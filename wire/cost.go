package wire

import (
	"strconv"
	"strings"

	"github.com/zofl/zofl/prng"
)

// CostInput says which round of a plan is counted, and for whom.
type CostInput struct {
	// Round is the round counted, from 1; numbers take more bytes later in a
	// run. 0 means 1.
	Round uint64
	// IDLen is the length of a device's id in bytes, which its subjects carry.
	// 0 means MaxName.
	IDLen int
}

// Traffic is what one message takes: Payload is the frame, Socket the frame
// and NATS's line around it. TLS, TCP and IP come on top.
type Traffic struct {
	Payload, Socket int
}

// A Cost is what a plan asks of the parties in one round.
type Cost struct {
	Perturbations uint32 // P of the round
	Queries       uint64 // loss evaluations of a device
	Scalars       uint64 // K*P, what a device sends

	Down   Traffic // announcement, one a round
	Repeat Traffic // one more each Plan.Reannounce that it stays open, and each later attempt
	Up     Traffic // contribution
	Record int     // bytes that the log grows by, and a device that was away fetches

	// Memory of a device in bytes: every vector of d float32 and the scratch
	// of a block, which each further worker (client.Config.Workers) has of its
	// own. Besides there are 4 bytes a scalar and what the app takes: its model,
	// and the blocks that it reads to, one or, of a batched objective, one for each
	// point of a step: 2P, or 1+P with forward differences.
	Flat      uint64 // the loss takes a flat vector
	Streaming uint64 // the loss reads block by block, one point or all of a step

	// Coordinator is the coordinator's memory for the sums of an open round,
	// in bytes. It has no model, and no more for more devices but their slots.
	Coordinator uint64
}

// Cost returns what the plan costs in a round, for a device that keeps up and
// an attempt that suffices. Frames are built and measured; numbers that only
// the run knows, such as weights and the time left, are as long as the plan
// lets them be.
func (p *Plan) Cost(in CostInput) Cost {
	round := max(in.Round, 1)
	perturbations := p.PerturbationsAt(round)
	scalars := uint64(p.Steps) * uint64(perturbations)
	record := p.sampleRecord(round, perturbations, scalars)
	length := in.IDLen
	if length == 0 {
		length = MaxName
	}
	state := 1 + uint64(p.momentumVectors()) // vectors that every replica has
	local := state
	if p.Steps == 1 {
		local = 0 // the only step starts from the state itself
	}
	announce := AnnounceSubject(p.Run, p.lastShard())
	return Cost{
		Perturbations: perturbations,
		Queries:       p.Queries(perturbations),
		Scalars:       scalars,
		Down:          received(announce, p.sampleAnnouncement(round, perturbations, record, 0)),
		Repeat:        received(announce, p.sampleAnnouncement(round, perturbations, record, p.AnnounceBudget)),
		Up:            sent(ReplySubject(p.Run, p.lastShard(), strings.Repeat("x", length)), p.sampleReply(round, scalars)),
		Record:        len(record),
		Flat:          4 * ((state+local+1)*p.Dim + prng.BlockLen),
		Streaming:     4 * ((state+local)*p.Dim + prng.BlockLen),
		Coordinator:   exactSumBytes * scalars,
	}
}

// exactSumBytes is the size of a mathx.ExactSum, which this package does not
// import.
const exactSumBytes = 48

func (p *Plan) momentumVectors() int {
	if p.Rule == Momentum || p.Rule == TorchMomentum {
		return 1
	}
	return 0
}

// lastShard has the longest subject.
func (p *Plan) lastShard() uint32 { return max(p.Shards, 1) - 1 }

// sampleRecord is the record of a round, as record round+1 of a log whose
// record 1 is the plan.
func (p *Plan) sampleRecord(round uint64, perturbations uint32, scalars uint64) []byte {
	r := Record{N: round + 1, Epoch: 1, Kind: KindRound, Round: &Round{
		Round: round, Step: p.StepAt(round), Perturbations: perturbations, Contributors: p.Target,
		Terms: []Term{{Scalars: make(Scalars, 4*scalars)}},
	}}
	return r.Append(nil)
}

// sampleAnnouncement opens the round's record. The last record is the plan in
// round 1; later it is as long as record, and so are those before it that fit
// budget.
func (p *Plan) sampleAnnouncement(round uint64, perturbations uint32, record []byte, budget uint32) []byte {
	a := Announcement{
		N: round + 1, Epoch: 1, Left: uint64(p.Deadline), Step: p.StepAt(round), Perturbations: perturbations,
		Cohort: Cohort{Sampled: uint64(p.Sampled(p.Members)), Members: p.Members},
	}
	if p.Roster == OpenRoster {
		a.Cohort = Cohort{Sampled: FullThreshold - 1}
	}
	if round == 1 {
		a.Records.Add((&Record{N: 1, Epoch: 1, Kind: KindPlan, Plan: p}).Append(nil))
		return a.Append(nil)
	}
	const head = 3 // that the length of a record counts as
	earlier := min(uint64(budget)/uint64(len(record)+head), round-1)
	for range 1 + earlier {
		a.Records.Add(record)
	}
	return a.Append(nil)
}

func (p *Plan) sampleReply(round, scalars uint64) []byte {
	r := Reply{Kind: Contribution, N: round + 1, Weight: 1, Values: make(Scalars, 4*scalars)}
	if p.Weights == BySamples {
		r.Weight = p.MaxWeight
	}
	return r.Append(nil)
}

// sent is what a client of NATS writes to publish a frame: PUB <subject>
// <length>\r\n, the frame, \r\n.
func sent(subject string, frame []byte) Traffic {
	return Traffic{len(frame), len("PUB "+subject+" "+strconv.Itoa(len(frame))+"\r\n") + len(frame) + len("\r\n")}
}

// received is what a client of NATS reads of a frame: MSG <subject> <sid>
// <length>\r\n, the frame, \r\n. A device has few subscriptions, so their
// numbers have one digit.
func received(subject string, frame []byte) Traffic {
	return Traffic{len(frame), len("MSG "+subject+" 1 "+strconv.Itoa(len(frame))+"\r\n") + len(frame) + len("\r\n")}
}
