package coordinator

import (
	"sort"

	"github.com/zofl/zofl/wire"
)

// catchUpHead is more than a catch-up reply takes without its records.
const catchUpHead = 64

// segmentRoom is what the records of a segment may take in a reply.
const segmentRoom = wire.MaxFrame - catchUpHead

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
type segments struct {
	first []uint64
	last  uint64
	used  int
}

// add notes the next record, by its length.
func (s *segments) add(length int) {
	s.last++
	size := length + binHead
	if len(s.first) == 0 || s.used+size > segmentRoom {
		s.first = append(s.first, s.last)
		s.used = 0
	}
	s.used += size
}

// span is a segment as it is now.
type span struct {
	index       int
	first, last uint64
}

// find returns the segment that has record n, which is of the log.
func (s *segments) find(n uint64) span {
	i := sort.Search(len(s.first), func(i int) bool { return s.first[i] > n }) - 1
	at := span{i, s.first[i], s.last}
	if i+1 < len(s.first) {
		at.last = s.first[i+1] - 1
	}
	return at
}
