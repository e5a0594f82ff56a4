package cost

import (
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/subjects"
)

// localDense returns the number of vectors of d float32 that a device's local steps take
// with DenseVectors: the iterate, which it sends; the estimate; the rule's; with control
// variates c - c_i and c_i; with ScaffoldMean also the next c_i.
func localDense(p *wire.Plan) uint64 {
	if p.Estimator == wire.Surrogate {
		// In float64 the iterate, the round's first point, the gradient, its correction,
		// a point to be added, and the rule's; in float32 a point and the vector to send.
		return 2*(5+momenta(p)) + 2
	}
	n := 2 + momenta(p)
	if p.Control != wire.NoControl {
		n += 2
	}
	if p.Control == wire.ScaffoldMean {
		n++
	}
	return n
}

// largestObject returns the elements of the longest vector that a device sends.
func largestObject(p *wire.Plan) uint64 { return max(p.Object(0), p.Object(1), p.Object(2)) }

// transitBytes returns the bytes of a vector that a device is sending or fetching.
func transitBytes(p *wire.Plan) uint64 { return 4 * largestObject(p) }

// surrogateBytes returns the bytes of a surrogate as package mathx/surrogate stores it,
// with M features and n points of d coordinates. It counts
//
//   - three pairs of triangles: matrix and factor of the process; inverse and inner
//     products, for its uncertainty; and those of the fit of w;
//   - the points, twice, and all points that NearestPoints chooses from;
//   - the features at each point, their v and b, and three w: the fleet's, this device's,
//     and their difference;
//   - the candidates that are judged together, and the points to be queried.
func surrogateBytes(p *wire.Plan) uint64 {
	if p.Estimator != wire.Surrogate {
		return 0
	}
	const atOnce = 32
	n, d, m := uint64(p.Window), p.Dim, uint64(p.Features)
	numbers := 3*n*(n+1) + 2*n*d + n*m + 2*m
	if p.WindowOf == wire.NearestPoints {
		numbers += 4 * n * (d + 1)
	}
	if p.Candidates > 0 {
		numbers += atOnce * d
	}
	return 8*numbers + 4*(m*d+2*m) + 4*d*uint64(max(p.Active, p.Around))
}

// uploadMemory is the default of coordinator.Config.UploadMemory: the largest vector.
// This package does not import the coordinator.
const uploadMemory = 4 * wire.MaxDense

// vectorBytes returns the coordinator's bytes for contributed vectors of so many
// elements, at most MaxDense: their sum, and the partly uploaded ones.
func vectorBytes(p *wire.Plan, elements uint64) uint64 {
	return exactSumBytes*elements + min(uint64(p.Target)*4*elements, uploadMemory)
}

// addVector adds the cost of uploading a vector for the round's record i, and of
// downloading the record's vector.
func (s *sample) addVector(c *Round, i int, id string) {
	p := s.plan
	elements := p.Object(s.phases[i])
	c.Scalars += elements
	c.Coordinator = max(c.Coordinator, vectorBytes(p, elements))
	u := wire.Upload{N: s.n(i), Weight: 1, Size: 4 * elements}
	if p.Weights == wire.BySamples {
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

// inbox is as long as the subjects on which nats.go receives answers.
const inbox = "_INBOX.1234567890123456789012.12345678"
