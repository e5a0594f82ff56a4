package gather

import (
	"container/list"
	"math"

	"github.com/zofl/zofl/wire"
)

const (
	// uploadMemory is the default of Config.UploadMemory.
	UploadMemory = 64 << 20
	// uploadRoom is what an unfinished vector takes besides its bytes.
	UploadRoom = 256
	// uploadIdle is after how many milliseconds without a piece a vector gives its
	// place to another one.
	uploadIdle = 10_000
	// leastPiece is how many bytes a piece has at least that counts for that.
	leastPiece = 1 << 10
	// mostFaults is how many vectors of a device may arrive damaged in a round
	// before no other one is taken.
	mostFaults = 1
)

// uploads is the vectors of the open round that have arrived in part. Each has a
// place for all of it as soon as it begins, so that those that have one can be
// finished: if places were of what has arrived, many could fill them together and
// wait for each other.
//
// Invariants:
//  1. under and order have the same vectors, those heard of longest ago in front.
//  2. promised is what they take when they are whole: at most most, or there is
//     one only.
//  3. What is allocated for a vector is at most twice what has arrived.
type Uploads struct {
	Most     int
	Promised int
	under    map[string]*list.Element // by id
	order    *list.List               // of *upload
	faults   map[string]int           // damaged vectors of a device
	turned   uint64                   // how often there was no place
	Evicted  uint64
}

// An upload is what has arrived of a vector.
type upload struct {
	id     string
	digest [wire.ObjectLen]byte
	weight uint32
	loss   uint32 // bits
	size   int
	data   []byte
	heard  uint64
}

func NewUploads(most int) Uploads {
	return Uploads{Most: most, under: map[string]*list.Element{}, order: list.New(), faults: map[string]int{}}
}

// reset forgets everything.
func (s *Uploads) Reset() {
	clear(s.under)
	clear(s.faults)
	s.order.Init()
	s.Promised = 0
}

// add takes a piece of id's vector. It returns the vector if it is whole, and
// otherwise what to answer.
func (s *Uploads) Add(id string, u *wire.Upload, now uint64) (whole []byte, answer wire.UploadReply) {
	e := s.under[id]
	if e != nil && !e.Value.(*upload).is(u) {
		s.drop(e)
		e = nil
	}
	if len(u.Data) == int(u.Size) { // which its offset is 0 of
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

// is says whether a piece is of v, and not of another vector in its place.
func (v *upload) is(u *wire.Upload) bool {
	return v.digest == u.Digest && v.weight == u.Weight && v.loss == math.Float32bits(u.Loss) && v.size == int(u.Size)
}

// begin gives a vector a place, if there is one or somebody left his; otherwise it
// returns nil.
func (s *Uploads) begin(id string, u *wire.Upload, now uint64) *list.Element {
	v := &upload{id: id, digest: u.Digest, weight: u.Weight, loss: math.Float32bits(u.Loss), size: int(u.Size), heard: now}
	for s.order.Len() > 0 && s.Promised+v.room() > s.Most {
		oldest := s.order.Front()
		if now-oldest.Value.(*upload).heard < uploadIdle {
			return nil
		}
		s.drop(oldest)
		s.Evicted++
	}
	s.Promised += v.room()
	s.under[id] = s.order.PushBack(v)
	return s.under[id]
}

func (v *upload) room() int { return v.size + UploadRoom }

// busy says to ask again, not all at once.
func (s *Uploads) busy() wire.UploadReply {
	s.turned++
	return wire.UploadReply{State: wire.UploadBusy, Wait: 500 + 250*(s.turned%8)}
}

// extend appends a piece.
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

// count is how many vectors have arrived in part.
func (s *Uploads) Count() int { return s.order.Len() }

// faulty is how many devices have sent vectors that are none.
func (s *Uploads) Faulty() int { return len(s.faults) }

// spent says whether no other vector of a device is taken in this round.
func (s *Uploads) Spent(id string) bool { return s.faults[id] > mostFaults }

// blame counts a vector that is none, and says whether its device may send it again:
// what arrived damaged may come once more; what was sent so on purpose would be the
// same.
func (s *Uploads) Blame(id string, damaged bool) (again bool) {
	if !damaged {
		s.faults[id] = mostFaults
	}
	s.faults[id]++
	return !s.Spent(id)
}
