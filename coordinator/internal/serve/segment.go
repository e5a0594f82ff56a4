package serve

import (
	"sort"

	"github.com/zofl/zofl/wire"
)

// catchUpHead is more than a catch-up reply takes without its records.
const CatchUpHead = 64

// binHead is what a record takes in a frame beyond its bytes.
const RecordHead = 3

// segmentRoom is what the records of a segment may take in a reply.
const segmentRoom = wire.MaxFrame - CatchUpHead

// segments are the parts that a log is caught up in: from record 1 on, each has
// as many records as fit one reply. A border never moves once there is one, so
// devices that are behind by different records soon ask for the same segments.
// They take 8 bytes for each 64 KiB of log, or each record that is longer than half
// of that.
//
// Invariants:
//  1. first ascends; the segment with an index has the records from first[index]
//     up to first[index+1], or up to last.
//  2. used is what the last segment's records take in a reply.
type Segments struct {
	first []uint64
	Last  uint64
	used  int
}

// add notes the next record, by its length.
func (s *Segments) Add(length int) {
	s.Last++
	size := length + RecordHead
	if len(s.first) == 0 || s.used+size > segmentRoom {
		s.first = append(s.first, s.Last)
		s.used = 0
	}
	s.used += size
}

// span is a segment as it is now.
type Span struct {
	index       int
	First, last uint64
}

// find returns the segment that has record n, which is of the log.
func (s *Segments) Find(n uint64) Span {
	i := sort.Search(len(s.first), func(i int) bool { return s.first[i] > n }) - 1
	at := Span{i, s.first[i], s.Last}
	if i+1 < len(s.first) {
		at.last = s.first[i+1] - 1
	}
	return at
}

// Count is how many segments there are.
func (s *Segments) Count() int { return len(s.first) }
