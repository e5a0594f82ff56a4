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

// A Cost is what a plan asks of the parties in one round. A round is [Plan.Phases]
// records with an announcement and a contribution each: what is counted is their sum.
type Cost struct {
	Perturbations uint32 // P of the round
	Queries       uint64 // loss evaluations of a device
	Scalars       uint64 // that a device sends: K*P, and those of control variates; of DenseVectors the elements

	Records int     // of a round, 1 or 2
	Down    Traffic // announcements, one a record; of DenseVectors also answers to pieces, and the record's vector
	Repeat  Traffic // one more each Plan.Reannounce that it stays open, and each later attempt
	Up      Traffic // contributions; of DenseVectors in pieces of MaxPiece, and requests for those of the record's vector
	Record  int     // bytes that the log grows by, at most, and a device that was away fetches

	// Vectors are the vectors of d float32 that every replica has: x, and what the
	// plan's rules keep besides. Local are those that a device with a streaming
	// loss has on top while it works, a vector of float64 being two; with a flat loss
	// it is one more, but for [Surrogate].
	Vectors, Local uint64

	// Memory of a device in bytes: these vectors, the coefficients of a seed pool, and
	// the scratch of one block or a few, which each further worker
	// (client.Config.Workers) has of its own; of DenseVectors a vector on its way, and of
	// [Surrogate] all that it knows. Besides there are 4 bytes a scalar and what the app
	// takes: its model, and the blocks that it reads to, one or, of a batched objective,
	// one for each point of a step: 2P, or 1+P with forward differences.
	Flat      uint64 // the loss takes a flat vector
	Streaming uint64 // the loss reads block by block, one point or all of a step

	// Coordinator is the coordinator's memory for the scalars of an open round, in
	// bytes, at most. It has no model. A mean takes no more for more devices but
	// their slots; median, trimmed mean and relay hold every contribution,
	// [ScaffoldMean] a sum for each record that control variates are of. Of
	// DenseVectors they are those of the larger phase, with the vectors that have come
	// in part: coordinator.Config.UploadMemory bounds them, here by its default.
	Coordinator uint64
}

// Cost returns what the plan costs in a round, for a device that keeps up and
// attempts that suffice. Frames are built and measured; numbers that only the
// run knows, such as weights and the time left, are as long as the plan lets
// them be, and control variates are of as many records as can be.
func (p *Plan) Cost(in CostInput) Cost {
	length := in.IDLen
	if length == 0 {
		length = MaxName
	}
	s := sampleOf(p, max(in.Round, 1))
	c := Cost{Perturbations: s.perturbations, Records: len(s.records), Vectors: p.replicated(), Local: p.local()}
	announce, id := AnnounceSubject(p.Run, p.lastShard()), strings.Repeat("x", length)
	for i, phase := range s.phases {
		c.Queries += p.PhaseQueries(phase, s.perturbations)
		c.Record += len(s.records[i])
		c.Down.add(received(announce, s.announcement(i, 0)))
		if p.SendsVectors() {
			s.addVector(&c, i, id)
		} else {
			s.addScalars(&c, i, id)
		}
	}
	c.Repeat = received(announce, s.announcement(len(s.phases)-1, p.AnnounceBudget))
	c.Streaming = 4*(c.Vectors+c.Local)*p.Dim + 4*prng.BlockLen*p.scratch() + p.pooled() + p.onItsWay() + p.learned()
	c.Flat = c.Streaming
	if p.Estimator != Surrogate { // whose points are vectors anyway
		c.Flat += 4 * p.Dim
	}
	return c
}

// addScalars adds a contribution of scalars to the round's record i.
func (s *sample) addScalars(c *Cost, i int, id string) {
	p := s.plan
	own, variate := s.scalars(s.phases[i]), s.variate(s.phases[i])
	c.Scalars += own + variate
	c.Up.add(sent(ReplySubject(p.Run, p.lastShard(), id), s.reply(i)))
	c.Coordinator += p.held(own) + p.heldVariates(variate)
}

func (t *Traffic) add(u Traffic) {
	t.Payload += u.Payload
	t.Socket += u.Socket
}

// lastShard has the longest subject.
func (p *Plan) lastShard() uint32 { return max(p.Shards, 1) - 1 }

// sent is what a client of NATS writes to publish a frame: PUB <subject>
// <length>\r\n, the frame, \r\n.
func sent(subject string, frame []byte) Traffic {
	return Traffic{len(frame), len("PUB "+subject+" "+strconv.Itoa(len(frame))+"\r\n") + len(frame) + len("\r\n")}
}

// requested is what a client of NATS writes to ask for an answer: PUB <subject> <inbox>
// <length>\r\n, the frame, \r\n.
func requested(subject string, frame []byte) Traffic { return sent(subject+" "+inbox, frame) }

// received is what a client of NATS reads of a frame: MSG <subject> <sid>
// <length>\r\n, the frame, \r\n. A device has few subscriptions, so their
// numbers have one digit.
func received(subject string, frame []byte) Traffic {
	return Traffic{len(frame), len("MSG "+subject+" 1 "+strconv.Itoa(len(frame))+"\r\n") + len(frame) + len("\r\n")}
}
