// Package uploads holds vectors that arrive in pieces until all pieces have arrived, within the
// memory that the coordinator gives the package. The package has no clock.
package uploads

import (
	"container/list"
	"math"

	"github.com/zofl/zofl/wire"
)

const (
	// Memory is the default of Config.UploadMemory.
	Memory = 64 << 20
	// Room is the memory that an unfinished vector takes in addition to its bytes.
	Room = 256
	// uploadIdle is how long a vector keeps its memory without a new piece, in milliseconds.
	uploadIdle = 10_000
	// lostFor is how long a vector that has lost its memory must let other vectors go first, in
	// milliseconds since the coordinator last told a device to wait. Devices wait less than lostFor
	// between two requests.
	lostFor = 3000
	// barredAfter is how often in a round a vector may lose its memory before it must let others go
	// first. A vector that is too slow must do so at once.
	barredAfter = 2
	// judgedAfter: after 1/judgedAfter of the time until the deadline, a vector may count as too slow.
	judgedAfter = 8
	// leastPiece is the size of the smallest piece that counts as a new piece.
	leastPiece = 1 << 10
	// mostFaults is how many damaged vectors of a device the coordinator tolerates in a round. After
	// more, it takes no vector of that device in that round.
	mostFaults = 1
)

// Uploads are the vectors of the open round that have arrived in part. A vector reserves all its
// memory when its first piece arrives, so every vector that has begun can be completed. If pieces
// took memory as they arrive, many vectors could exhaust the memory together and wait for each
// other.
//
// Invariants:
//  1. under and order have the same vectors. The vector whose last piece is oldest is in front.
//  2. Promised is the memory of these vectors when complete. Promised is at most Most, unless there
//     is only one vector.
//  3. The memory allocated for a vector is at most twice the bytes that have arrived.
type Uploads struct {
	Most     int
	Promised int
	By       uint64                   // when vectors must be complete, in milliseconds; 0: no time
	under    map[string]*list.Element // by id
	order    *list.List               // of *upload
	faults   map[string]int           // damaged vectors, by id
	lost     map[string]int           // places lost in this round, by id
	turnedAt uint64                   // when one that is not barred was last told to wait
	turned   uint64                   // how often there was no memory
	Evicted  uint64
}

// An upload is a vector that has arrived in part.
type upload struct {
	id     string
	digest [wire.ObjectLen]byte
	weight uint32
	loss   uint32 // its bits
	size   int
	data   []byte
	began  uint64
	heard  uint64
}

func New(most int) Uploads {
	return Uploads{Most: most, under: map[string]*list.Element{}, order: list.New(),
		faults: map[string]int{}, lost: map[string]int{}}
}

// Reset forgets all vectors and faults.
func (s *Uploads) Reset() {
	clear(s.under)
	clear(s.faults)
	clear(s.lost)
	s.order.Init()
	s.Promised = 0
}

// Add takes a piece of id's vector. If the vector is now complete, Add returns the vector, and
// otherwise the answer to the device.
func (s *Uploads) Add(
	id string, u *wire.Upload, now uint64,
) (whole []byte, answer wire.UploadReply) {
	e := s.under[id]
	if e != nil && !e.Value.(*upload).is(u) {
		s.drop(e)
		e = nil
	}
	if len(u.Data) == int(u.Size) { // so its offset is 0
		if e != nil {
			s.drop(e)
		}
		return u.Data, answer
	}
	if e == nil {
		if e = s.begin(id, u, now); e == nil {
			return nil, s.busy()
		}
	}
	v := e.Value.(*upload)
	if u.Offset == uint64(len(v.data)) {
		s.extend(e, u.Data, now)
	}
	if len(v.data) == v.size {
		s.drop(e)
		return v.data, answer
	}
	return nil, wire.UploadReply{State: wire.UploadMore, Offset: uint64(len(v.data))}
}

// is says whether a piece belongs to v, and not to another vector of the device that replaces v.
func (v *upload) is(u *wire.Upload) bool {
	return v.digest == u.Digest && v.weight == u.Weight && v.size == int(u.Size) &&
		v.loss == math.Float32bits(u.Loss)
}

// begin reserves memory for a vector, if need be by dropping hopeless vectors. begin returns nil if
// there is no memory. A device whose vector has lost its memory barredAfter times gets memory again
// only when no other device waits.
func (s *Uploads) begin(id string, u *wire.Upload, now uint64) *list.Element {
	v := &upload{id: id, digest: u.Digest, weight: u.Weight, loss: math.Float32bits(u.Loss),
		size: int(u.Size), began: now, heard: now}
	barred := s.lost[id] >= barredAfter
	if barred && s.turnedAt > 0 && now-s.turnedAt < lostFor {
		return nil
	}
	for s.order.Len() > 0 && s.Promised+v.room() > s.Most {
		e, weight := s.hopeless(now)
		if e == nil || barred {
			if !barred {
				s.turnedAt = now
			}
			return nil
		}
		s.lost[e.Value.(*upload).id] += weight
		s.drop(e)
		s.Evicted++
	}
	s.Promised += v.room()
	s.under[id] = s.order.PushBack(v)
	return s.under[id]
}

// hopeless returns a vector that is idle, or that will not be complete in time, or nil if there is
// no such vector. weight is how much the loss counts towards barredAfter.
func (s *Uploads) hopeless(now uint64) (e *list.Element, weight int) {
	for e = s.order.Front(); e != nil; e = e.Next() {
		switch v := e.Value.(*upload); {
		case v.tooSlow(now, s.By):
			return e, barredAfter
		case now-v.heard >= uploadIdle:
			return e, 1
		}
	}
	return nil, 0
}

// tooSlow says whether a vector will not be complete in time at its rate so far. tooSlow returns
// false until 1/judgedAfter of the time has passed.
func (v *upload) tooSlow(now, by uint64) bool {
	if now >= by || (now-v.began)*judgedAfter < by-v.began {
		return false
	}
	needs := float64(now-v.began) / float64(max(len(v.data), 1)) * float64(v.size-len(v.data))
	return needs > float64(by-now)
}

func (v *upload) room() int { return v.size + Room }

// busy returns an answer that asks the device to try again later, with delays that differ between
// devices.
func (s *Uploads) busy() wire.UploadReply {
	s.turned++
	return wire.UploadReply{State: wire.UploadBusy, Wait: 500 + 250*(s.turned%8)}
}

// extend appends a piece to a vector.
func (s *Uploads) extend(e *list.Element, piece []byte, now uint64) {
	v := e.Value.(*upload)
	if need := len(v.data) + len(piece); need > cap(v.data) {
		v.data = append(make([]byte, 0, min(max(need, 2*cap(v.data)), v.size)), v.data...)
	}
	v.data = append(v.data, piece...)
	if len(piece) >= min(leastPiece, v.size-len(v.data)+len(piece)) && len(piece) > 0 {
		v.heard = now
		s.order.MoveToBack(e)
	}
}

func (s *Uploads) drop(e *list.Element) {
	v := s.order.Remove(e).(*upload)
	s.Promised -= v.room()
	delete(s.under, v.id)
}

// Count returns how many vectors have arrived in part.
func (s *Uploads) Count() int { return s.order.Len() }

// Faulty returns how many devices have sent damaged vectors.
func (s *Uploads) Faulty() int { return len(s.faults) }

// Spent says whether the coordinator takes no further vector of a device in this round.
func (s *Uploads) Spent(id string) bool { return s.faults[id] > mostFaults }

// Blame counts a vector that the coordinator rejected, and says whether the device may send it
// again. A device may send a damaged vector once more. A vector that arrived as the device meant it
// would be rejected again.
func (s *Uploads) Blame(id string, damaged bool) (again bool) {
	if !damaged {
		s.faults[id] = mostFaults
	}
	s.faults[id]++
	return !s.Spent(id)
}
