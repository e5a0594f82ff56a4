package wire

// localDense is the number of vectors of d float32 that a device's own steps take, in a
// run with DenseVectors: the iterate, which is what it sends; the estimate; the rule's;
// c - c_i and c_i, and of ScaffoldMean the c_i to come.
func (p *Plan) localDense() uint64 {
	if p.Estimator == Surrogate {
		// In float64 the iterate, where the round began, the gradient, its correction, a
		// point that is added, and the rule's; as float32 a point and what is sent.
		return 2*(5+p.momenta()) + 2
	}
	n := 2 + p.momenta()
	if p.Control != NoControl {
		n += 2
	}
	if p.Control == ScaffoldMean {
		n++
	}
	return n
}

// largestObject is the elements of the longest vector that a device sends.
func (p *Plan) largestObject() uint64 { return max(p.Object(0), p.Object(1), p.Object(2)) }

// onItsWay is the bytes of a vector that a device sends or fetches.
func (p *Plan) onItsWay() uint64 { return 4 * p.largestObject() }

// learned is the bytes of what a surrogate knows, as mathx/surrogate has it, M features
// and n points of d coordinates. Three pairs of triangles: of the process its matrix and
// factor, for its uncertainty the inverse and the inner products, and those of the fit of
// w. The points, twice; all that NearestPoints chooses from. The features at each
// point, their v and b, and w: of all devices, of this one, their difference. The
// candidates that are judged together, and those to be asked for.
func (p *Plan) learned() uint64 {
	if p.Estimator != Surrogate {
		return 0
	}
	const atOnce = 32
	n, d, m := uint64(p.Window), p.Dim, uint64(p.Features)
	numbers := 3*n*(n+1) + 2*n*d + n*m + 2*m
	if p.WindowOf == NearestPoints {
		numbers += 4 * n * (d + 1)
	}
	if p.Candidates > 0 {
		numbers += atOnce * d
	}
	return 8*numbers + 4*(m*d+2*m) + 4*d*uint64(max(p.Active, p.Around))
}

// uploadMemory is the default of coordinator.Config.UploadMemory, which this package
// does not import: the largest vector.
const uploadMemory = 4 * MaxDense

// heldVector is the bytes in which a coordinator has vectors of so many elements, at
// most MaxDense: their sum, and those that have come in part.
func (p *Plan) heldVector(elements uint64) uint64 {
	return exactSumBytes*elements + min(uint64(p.Target)*4*elements, uploadMemory)
}

// addVector adds a vector on its way to the round's record i, and the record's on its
// way back.
func (s *sample) addVector(c *Cost, i int, id string) {
	p := s.plan
	elements := p.Object(s.phases[i])
	c.Scalars += elements
	c.Coordinator = max(c.Coordinator, p.heldVector(elements))
	u := Upload{N: s.n(i), Weight: 1, Size: 4 * elements}
	if p.Weights == BySamples {
		u.Weight = p.MaxWeight
	}
	upload, object := UploadSubject(p.Run, id), ObjectSubject(p.Run, id)
	pieces(u.Size, func(offset, size uint64) {
		u.Offset, u.Data = offset, make([]byte, size)
		c.Up.add(requested(upload, u.Append(nil)))
		answer := UploadReply{N: u.N, State: UploadMore, Offset: offset + size}
		if answer.Offset == u.Size {
			answer.State, answer.Offset = UploadTaken, 0
		}
		c.Down.add(received(inbox, answer.Append(nil)))

		request := ObjectRequest{Offset: offset, MaxBytes: MaxPiece}
		c.Up.add(requested(object, request.Append(nil)))
		reply := ObjectReply{Size: u.Size, Offset: offset, Data: u.Data}
		c.Down.add(received(inbox, reply.Append(nil)))
	})
}

// pieces calls piece for each piece of a vector of size bytes.
func pieces(size uint64, piece func(offset, size uint64)) {
	for offset := uint64(0); offset < size; offset += MaxPiece {
		piece(offset, min(MaxPiece, size-offset))
	}
}

// inbox is as long as the subjects on which nats.go takes answers.
const inbox = "_INBOX.1234567890123456789012.12345678"
