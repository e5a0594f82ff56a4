// Package uploads holds vectors that arrive in pieces until they are whole, within the memory that
// the coordinator gives them. It has no clock.
package uploads

import (
	"container/list"
	"math"

	"github.com/zofl/zofl/wire"
)

const (
	// Memory is the default of Config.UploadMemory.
	Memory = 64 << 20
	// Room is the memory of an unfinished vector beyond its bytes.
	Room = 256
	// uploadIdle is how long a vector keeps its place without a new piece, in milliseconds.
	uploadIdle = 10_000
	// lostFor is how long a vector that has lost its place lets other vectors go first, in
	// milliseconds since a device was last told to wait. Devices wait less than that between two
	// requests.
	lostFor = 3000
	// barredAfter is how often in a round a vector may lose its place before it lets others go first.
	// A vector that is too slow counts as much as all of these.
	barredAfter = 2
	// judgedAfter is the share of the time until the deadline after which a vector is judged.
	judgedAfter = 8
	// leastPiece is the size of the smallest piece that counts as new.
	leastPiece = 1 << 10
	// mostFaults is how many damaged vectors of a device are tolerated in a round before no further
	// one is taken.
	mostFaults = 1
)

// Uploads are the vectors of the open round that have arrived in part. A vector reserves all its
// memory when it begins, so every vector that has begun can be completed. If memory were taken as
// pieces arrive, many vectors could exhaust it together and wait for each other.
//
// Invariants:
//  1. under and order have the same vectors. The one heard of longest ago is in front.
//  2. Promised is their memory when complete. It is at most Most, unless there is only one.
//  3. The memory allocated for a vector is at most twice what has arrived.
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

// Add takes a piece of id's vector. It returns the vector if that is complete, and otherwise the
// answer to the device.
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

// is says whether a piece belongs to v, and not to a vector that replaces it.
func (v *upload) is(u *wire.Upload) bool {
	return v.digest == u.Digest && v.weight == u.Weight && v.size == int(u.Size) &&
		v.loss == math.Float32bits(u.Loss)
}

// begin reserves memory for a vector. If need be, it takes the memory of hopeless ones. It returns
// nil if there is none. A device that has lost its place gets another one only when no other device
// waits.
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

// hopeless returns a vector that is idle, or that will not be complete in time, nil if there is
// none, and how much the loss of its place weighs.
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

// tooSlow says whether a vector will not be complete in time at the rate that it has had so far. It
// is judged once a share of the time has passed.
func (v *upload) tooSlow(now, by uint64) bool {
	if now >= by || (now-v.began)*judgedAfter < by-v.began {
		return false
	}
	needs := float64(now-v.began) / float64(max(len(v.data), 1)) * float64(v.size-len(v.data))
	return needs > float64(by-now)
}

func (v *upload) room() int { return v.size + Room }

// busy asks the device to try again later, each after another delay.
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

// Count returns how many vectors have arrived in part.
func (s *Uploads) Count() int { return s.order.Len() }

// Faulty returns how many devices have sent damaged vectors.
func (s *Uploads) Faulty() int { return len(s.faults) }

// Spent says whether no further vector of a device is taken in this round.
func (s *Uploads) Spent(id string) bool { return s.faults[id] > mostFaults }

// Blame counts a vector that was rejected, and says whether its device may send it again. A damaged
// one may be sent once more; one that the device meant to send would be the same again.
func (s *Uploads) Blame(id string, damaged bool) (again bool) {
	if !damaged {
		s.faults[id] = mostFaults
	}
	s.faults[id]++
	return !s.Spent(id)
}
