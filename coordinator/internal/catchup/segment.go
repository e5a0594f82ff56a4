package catchup

import (
	"sort"

	"github.com/zofl/zofl/wire"
)

// CatchUpHead bounds the bytes of a catch-up reply apart from the reply's records.
const CatchUpHead = 64

// RecordHead is the number of bytes that a record takes in a frame in addition to its own bytes.
const RecordHead = 3

// segmentRoom is how many bytes of a reply the records of a segment may take.
const segmentRoom = wire.MaxFrame - CatchUpHead

// Segments divide a log for catching up. Each segment has as many records, from record 1 on, as fit
// one reply. A border never moves, so devices that lack different numbers of records soon ask for
// the same segments. Segments take 8 bytes of memory for each 64 KiB of log, or for each record
// longer than 32 KiB.
//
// Invariants:
//  1. first ascends. Segment i has the records from first[i] up to first[i+1], or up to Last.
//  2. used is the number of bytes that the last segment's records take in a reply; bytes is that
//     of all records.
type Segments struct {
	first []uint64
	Last  uint64
	used  int
	bytes int64 // of all records in replies

	// Reserve is how many bytes of a reply stay free. Reserve never changes once there are records.
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
	s.used, s.bytes = s.used+size, s.bytes+int64(size)
}

// A Span is a segment with its present first and last record.
type Span struct {
	index       int
	First, last uint64
	all         int64 // bytes of all segments
}

// Find returns the segment of record n. The log must have record n.
func (s *Segments) Find(n uint64) Span {
	i := sort.Search(len(s.first), func(i int) bool { return s.first[i] > n }) - 1
	at := Span{i, s.first[i], s.Last, s.bytes}
	if i+1 < len(s.first) {
		at.last = s.first[i+1] - 1
	}
	return at
}

// Count returns how many segments there are.
func (s *Segments) Count() int { return len(s.first) }
