package follow

import (
	"cmp"
	"math"
	"slices"

	"github.com/zofl/zofl/client/replica"
)

// A course is what this device knows about the log's rollbacks, and how far it has read the log. It
// survives a catch-up that fails, so that the next one continues there.
//
// The state after a rollback is that after the record it returns to. So the records that make up a
// state form a path back to record 1, which jumps at each rollback. A device that knows the
// rollbacks replays the log in one pass: it applies the records of the path and skips the others.
//
// Invariant: rollbacks holds the rollbacks among all records that this device applied or skipped.
type course struct {
	rollbacks []replica.Rollback // ascending
	passed    uint64             // last record passed over, 0: none after the replica's
	scanning  bool               // the catch-up only passes over records, to find rollbacks
}

// straight says whether each record follows the one before it, as far as is known.
func (c *course) straight() bool {
	return len(c.rollbacks) == 0 && c.passed == 0 && !c.scanning
}

// find returns the index of record n's rollback, or where it would be.
func (c *course) find(n uint64) (i int, found bool) { return search(c.rollbacks, n) }

func search(rollbacks []replica.Rollback, n uint64) (i int, found bool) {
	return slices.BinarySearchFunc(rollbacks, n,
		func(r replica.Rollback, n uint64) int { return cmp.Compare(r.N, n) })
}

// merge takes over another party's rollbacks after record mine, up to record n, and forgets how
// far this device passed over the log.
func (c *course) merge(theirs []replica.Rollback, mine, n uint64) {
	i, _ := c.find(mine + 1)
	j, _ := c.find(n + 1)
	from, _ := search(theirs, mine+1)
	to, _ := search(theirs, n+1)
	c.rollbacks = slices.Concat(c.rollbacks[:i], theirs[from:to], c.rollbacks[j:])
	c.passed = 0
}

// to returns the record that rollback n returns to; 0: n is not known to be a rollback.
func (c *course) to(n uint64) uint64 {
	if i, found := c.find(n); found {
		return c.rollbacks[i].To
	}
	return 0
}

// note records that rollback n returns to a record; 0: n is not a rollback.
func (c *course) note(n, to uint64) {
	i, found := c.find(n)
	if found {
		c.rollbacks = slices.Delete(c.rollbacks, i, i+1)
	}
	if to > 0 {
		c.rollbacks = slices.Insert(c.rollbacks, i, replica.Rollback{N: n, To: to})
	}
}

// known returns the last record that this device passed over or knows to be a rollback.
func (c *course) known() uint64 {
	if len(c.rollbacks) == 0 {
		return c.passed
	}
	return max(c.passed, c.rollbacks[len(c.rollbacks)-1].N)
}

// cut forgets the records after n.
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

// A path is an ascending list of records, as stretches without a gap.
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
