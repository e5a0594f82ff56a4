// Package cost computes the costs of a plan: bytes on the network and in the log, queries, and the
// memory of a device and of the coordinator. Devices do not link this package.
package cost

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/zofl/zofl/internal/footprint"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Input says which round to price, and for which device.
type Input struct {
	// Round is the round to price, from 1. Later rounds have longer numbers in their frames. 0 means
	// 1.
	Round uint64
	// IDLen is the length in bytes of the device's id, because the id is in the device's subjects. 0
	// means MaxName.
	IDLen int
}

// Traffic is a number of bytes: Payload counts frames. Socket counts frames and the protocol lines
// of NATS. Neither counts TLS, TCP and IP.
type Traffic struct {
	Payload, Socket int
}

// A Round is the cost of one round to a device, the coordinator and the log. A round is
// [plan.Plan.Phases] records, each with an announcement and a contribution. The cost of the round
// is the sum over its records.
type Round struct {
	Perturbations uint32 // P of the round
	Queries       uint64 // loss evaluations of a device

	// Scalars is the number of scalars that a device sends: K*P, and the scalars of control variates.
	// With DenseVectors it is the number of elements.
	Scalars uint64

	// Directions is the number of directions along which the round's records have scalars. A replica
	// makes each of them anew, with Plan.Dim elements, to replay the round.
	Directions uint64

	Records int // of a round, 1 or 2

	// Down counts one announcement a record; with DenseVectors also answers to the
	// pieces of an upload, and the record's vector; with secure=sum the answers to its steps.
	Down Traffic
	// Repeat counts one repetition of an announcement. A long round has [Repeats] repetitions, and one
	// more announcement for each later attempt.
	Repeat Traffic
	// Up counts contributions; with DenseVectors in pieces of MaxPiece bytes, and with
	// the requests for pieces of the record's vector; with secure=sum the messages of its
	// steps.
	Up Traffic
	// Record is the largest number of bytes that the round adds to the log. A device that was away
	// fetches these bytes.
	Record int

	// Vectors counts the vectors of d float32 that every replica has: x, and the vectors of the plan's
	// rules. Local counts the vectors that a working device with a streaming loss needs in addition. A
	// vector of float64 counts as two vectors. A loss that takes a flat vector needs one vector more,
	// except with [plan.Surrogate].
	Vectors, Local uint64

	// Flat and Streaming are the memory of a device in bytes: the vectors above, the coefficients of a
	// seed pool, and the scratch blocks of one worker. Each further worker (client.Config.Workers)
	// needs scratch blocks of its own. With DenseVectors, Flat and Streaming include the vectors that
	// are sent and fetched, and with [plan.Surrogate] the surrogate's data. Flat and Streaming do not
	// count 4 bytes a scalar, and the app's own memory: its model, and the blocks into which the app
	// reads. The app reads into one block, or with a batched objective into one block for each point
	// of a step (2P, or 1+P with forward differences).
	Flat      uint64 // the loss takes a flat vector
	Streaming uint64 // the loss reads block by block, one point or all points of a step

	// Coordinator is the largest memory in bytes of the coordinator for the contributions of an open
	// round; the coordinator has no model. With a mean, each further device costs only its slot. With
	// median, trimmed mean and relay the coordinator holds every contribution. With
	// [plan.ScaffoldMean] it holds a sum for each record along whose directions control variates are.
	// With DenseVectors it holds the sum of the larger phase, and the partly uploaded vectors, up to
	// the default of coordinator.Config.UploadMemory.
	Coordinator uint64
}

// Of returns the cost of a round for a device that misses no record, if the first attempt succeeds.
// Of builds frames and measures them. For numbers that are known only during the run, such as
// weights and the time left, Of takes the longest encoding that the plan allows. Of assumes that
// control variates are along directions of as many records as possible.
func Of(p *plan.Plan, in Input) Round {
	length := cmp.Or(in.IDLen, plan.MaxName)
	s := sampleOf(p, max(in.Round, 1))
	c := Round{
		Perturbations: s.perturbations, Records: len(s.records), Directions: s.directions,
		Vectors: footprint.Vectors(p), Local: footprint.Local(p),
	}
	announce, id := subjects.Announce(p.Run, lastShard(p)), strings.Repeat("x", length)
	for i, phase := range s.phases {
		c.Queries += p.PhaseQueries(phase, s.perturbations)
		c.Record += len(s.records[i])
		c.Down.add(received(announce, s.announcement(i)))
		s.transport.add(s, &c, i, id)
	}
	c.Repeat = received(announce, s.repeat(len(s.phases)-1))
	c.Streaming = footprint.Bytes(p, footprint.Device{})
	c.Flat = footprint.Bytes(p, footprint.Device{Flat: true})
	return c
}

// Repeats returns how often the coordinator repeats the announcement of a record in one attempt
// that lasts the given number of milliseconds, as the attempt at the record before did.
func Repeats(p *plan.Plan, lasts uint64) (n int) {
	deadline := uint64(p.Deadline)
	lasts = min(lasts, deadline)
	a := wire.Announcement{State: wire.Open, Left: deadline}
	for at := uint64(0); ; n++ {
		at += a.RepeatAfter(p.Reannounce, p.Deadline, lasts)
		if at >= lasts {
			return n
		}
		a.Left = deadline - at
	}
}

// addScalars adds the cost of a contribution of scalars to the round's record i.
func (s *sample) addScalars(c *Round, i int, id string) {
	p := s.plan
	perturbations := uint64(s.perturbations)
	own := s.blocks(s.phases[i]) * perturbations
	variate := s.variate(s.phases[i]) * perturbations
	c.Scalars += own + variate
	if p.Summed() {
		s.addMasked(c, i, id)
	} else {
		c.Up.add(sent(subjects.Reply(p.Run, lastShard(p), id), s.reply(i)))
	}
	c.Coordinator += scalarBytes(p, own) + controlBytes(p, variate)
}

func (t *Traffic) add(u Traffic) {
	t.Payload += u.Payload
	t.Socket += u.Socket
}

// lastShard returns the shard with the longest subject.
func lastShard(p *plan.Plan) uint32 { return max(p.Shards, 1) - 1 }

// sent returns the traffic of publishing a frame: PUB <subject> <length>\r\n, the frame, \r\n.
func sent(subject string, frame []byte) Traffic {
	line := "PUB " + subject + " " + strconv.Itoa(len(frame)) + "\r\n"
	return Traffic{len(frame), len(line) + len(frame) + len("\r\n")}
}

// requested returns the traffic of a request: PUB <subject> <inbox> <length>\r\n, the frame, \r\n.
func requested(subject string, frame []byte) Traffic { return sent(subject+" "+inbox, frame) }

// received returns the traffic of receiving a frame: MSG <subject> <sid> <length>\r\n, the frame,
// \r\n. A device has few subscriptions, so a subscription's number has one digit.
func received(subject string, frame []byte) Traffic {
	line := "MSG " + subject + " 1 " + strconv.Itoa(len(frame)) + "\r\n"
	return Traffic{len(frame), len(line) + len(frame) + len("\r\n")}
}
