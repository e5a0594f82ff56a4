package follow

import (
	"cmp"
	"math"
	"slices"

	"github.com/zofl/zofl/client/replica"
)

// A course is what this device knows about the log's rollbacks, and how far it has read the log. A
// course stays after a catch-up that fails, so that the next catch-up continues where the first one
// stopped.
//
// A rollback names an earlier record, and returns to the state after that record. So the records
// that make up a state form a path back to record 1. The path leaves out the records that rollbacks
// undid. A device that knows the rollbacks replays the log in one pass: it applies the records of
// the path and skips the others.
//
// Invariant: rollbacks holds the rollbacks among all records that this device applied or skipped.
type course struct {
	rollbacks []replica.Rollback // ascending
	passed    uint64             // last record skipped; 0: none after the replica's
	scanning  bool               // the catch-up only skips records, to find rollbacks
}

// straight says whether each record follows the one before it, as far as this device knows.
func (c *course) straight() bool {
	return len(c.rollbacks) == 0 && c.passed == 0 && !c.scanning
}

// find returns the index of record n's rollback, or the index where note would insert it.
func (c *course) find(n uint64) (i int, found bool) { return search(c.rollbacks, n) }

func search(rollbacks []replica.Rollback, n uint64) (i int, found bool) {
	return slices.BinarySearchFunc(rollbacks, n,
		func(r replica.Rollback, n uint64) int { return cmp.Compare(r.N, n) })
}

// merge takes over another party's rollbacks after record mine, up to record n, and forgets how
// many records this device skipped.
func (c *course) merge(theirs []replica.Rollback, mine, n uint64) {
	i, _ := c.find(mine + 1)
	j, _ := c.find(n + 1)
	from, _ := search(theirs, mine+1)
	to, _ := search(theirs, n+1)
	c.rollbacks = slices.Concat(c.rollbacks[:i], theirs[from:to], c.rollbacks[j:])
	c.passed = 0
}

// to returns the record to which rollback n returns; 0: n is not known to be a rollback.
func (c *course) to(n uint64) uint64 {
	if i, found := c.find(n); found {
		return c.rollbacks[i].To
	}
	return 0
}

// note notes that rollback n returns to a record; to = 0: n is not a rollback.
func (c *course) note(n, to uint64) {
	i, found := c.find(n)
	if found {
		c.rollbacks = slices.Delete(c.rollbacks, i, i+1)
	}
	if to > 0 {
		c.rollbacks = slices.Insert(c.rollbacks, i, replica.Rollback{N: n, To: to})
	}
}

// known returns the last record that this device skipped or knows to be a rollback.
func (c *course) known() uint64 {
	if len(c.rollbacks) == 0 {
		return c.passed
	}
	return max(c.passed, c.rollbacks[len(c.rollbacks)-1].N)
}

// cut forgets what the course knows about the records after n.
func (c *course) cut(n uint64) {
	i, _ := c.find(n + 1)
	c.rollbacks, c.passed, c.scanning = c.rollbacks[:i], 0, false
}

// path returns the records that make up the state after record n.
func (c *course) path(n uint64) path {
	var p path
	for n > 0 {
		i, found := c.find(n)
		if !found {
			i--
		}
		if i < 0 {
			p = append(p, stretch{1, n})
			break
		}
		p = append(p, stretch{c.rollbacks[i].N, n})
		n = c.rollbacks[i].To
	}
	slices.Reverse(p)
	return p
}

// A path is an ascending list of records, as stretches without a gap inside.
type path []stretch

// A stretch is all records from first to last.
type stretch struct{ first, last uint64 }

// from returns the first record of p that is n or later.
func (p path) from(n uint64) uint64 {
	i, _ := slices.BinarySearchFunc(p, n,
		func(s stretch, n uint64) int { return cmp.Compare(s.last, n) })
	if i == len(p) {
		return math.MaxUint64
	}
	return max(p[i].first, n)
}

func (p path) has(n uint64) bool { return p.from(n) == n }
