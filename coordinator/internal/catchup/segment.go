package catchup

import (
	"sort"

	"github.com/zofl/zofl/wire"
)

// CatchUpHead is an upper bound of a catch-up reply's bytes without its records.
const CatchUpHead = 64

// RecordHead is how many bytes a record takes in a frame beyond its own.
const RecordHead = 3

// segmentRoom is how many bytes of a reply a segment's records may take.
const segmentRoom = wire.MaxFrame - CatchUpHead

// Segments divide a log for catching up. Each segment has as many records, from record 1 on, as fit
// one reply. A border never moves, so devices that are behind by different amounts soon ask for the
// same segments. They take 8 bytes of memory for each 64 KiB of log, or for each record longer than
// half of that.
//
// Invariants:
//  1. first ascends. Segment i has the records from first[i] up to first[i+1], or up to Last.
//  2. used is what the last segment's records take in a reply.
type Segments struct {
	first []uint64
	Last  uint64
	used  int

	// Reserve is how many bytes of a reply stay free. It never changes once there are records.
	Reserve int
}

// Add notes the next record's length.
func (s *Segments) Add(length int) {
	s.Last++
	size := length + RecordHead
	if len(s.first) == 0 || s.used+size > segmentRoom-s.Reserve {
		s.first = append(s.first, s.Last)
		s.used = 0
	}
	s.used += size
}

// A Span is a segment as it is at present.
type Span struct {
	index       int
	First, last uint64
}

// Find returns the segment of record n, which the log has.
func (s *Segments) Find(n uint64) Span {
	i := sort.Search(len(s.first), func(i int) bool { return s.first[i] > n }) - 1
	at := Span{i, s.first[i], s.Last}
	if i+1 < len(s.first) {
		at.last = s.first[i+1] - 1
	}
	return at
}

// Count returns how many segments there are.
func (s *Segments) Count() int { return len(s.first) }
