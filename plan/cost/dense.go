package cost

import (
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// uploadMemory is the default of coordinator.Config.UploadMemory: the bytes of the largest vector.
// Package cost does not import the coordinator.
const uploadMemory = 4 * plan.MaxDense

// vectorBytes returns the coordinator's bytes for contributed vectors of n elements, at most
// MaxDense: the sum of the vectors, and the partly uploaded vectors.
func vectorBytes(p *plan.Plan, elements uint64) uint64 {
	return exactSumBytes*elements + min(uint64(p.Counted())*4*elements, uploadMemory)
}

// addVector adds the cost of uploading a vector for the round's record i, and of
// downloading the record's vector.
func (s *sample) addVector(c *Round, i int, id string) {
	p := s.plan
	elements := p.Object(s.phases[i])
	c.Scalars += elements
	c.Coordinator = max(c.Coordinator, vectorBytes(p, elements))
	u := wire.Upload{N: s.n(i), Weight: 1, Size: 4 * elements}
	if p.Weights == plan.BySamples {
		u.Weight = p.MaxWeight
	}
	upload, object := subjects.Upload(p.Run, id), subjects.Object(p.Run, id)
	pieces(u.Size, func(offset, size uint64) {
		u.Offset, u.Data = offset, make([]byte, size)
		c.Up.add(requested(upload, u.Append(nil)))
		answer := wire.UploadReply{N: u.N, State: wire.UploadMore, Offset: offset + size}
		if answer.Offset == u.Size {
			answer.State, answer.Offset = wire.UploadTaken, 0
		}
		c.Down.add(received(inbox, answer.Append(nil)))

		request := wire.ObjectRequest{Offset: offset, MaxBytes: wire.MaxPiece}
		c.Up.add(requested(object, request.Append(nil)))
		reply := wire.ObjectReply{Size: u.Size, Offset: offset, Data: u.Data}
		c.Down.add(received(inbox, reply.Append(nil)))
	})
}

// pieces calls piece for each piece of a vector of size bytes.
func pieces(size uint64, piece func(offset, size uint64)) {
	for offset := uint64(0); offset < size; offset += wire.MaxPiece {
		piece(offset, min(wire.MaxPiece, size-offset))
	}
}

// inbox has the length of the subjects on which nats.go receives answers.
const inbox = "_INBOX.1234567890123456789012.12345678"
