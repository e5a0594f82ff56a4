package follow

import (
	"cmp"
	"math"
	"slices"

	"github.com/zofl/zofl/client/replica"
)

// A course is what is known of the log's rollbacks, and how far the log was
// passed over. It outlives a catch-up that fails, so that the next one goes on
// where that one stopped.
//
// The state after a rollback is that after the record it returns to, so the
// records that count for a state form a path back to record 1 that jumps at
// each rollback. Whoever knows the rollbacks replays the log in one pass over
// it: it applies the records of the path and passes over the others. Invariant:
// rollbacks has those of all records that this device applied or passed over.
type course struct {
	rollbacks []replica.Rollback // ascending
	passed    uint64             // last record passed over, 0: none after the replica's
	scanning  bool               // records are passed over to see the rollbacks among them
}

// find returns where the rollback of record n is, or belongs.
func (c *course) find(n uint64) (i int, found bool) { return search(c.rollbacks, n) }

func search(rollbacks []replica.Rollback, n uint64) (i int, found bool) {
	return slices.BinarySearchFunc(rollbacks, n, func(r replica.Rollback, n uint64) int { return cmp.Compare(r.N, n) })
}

// merge takes what somebody else knows of the rollbacks after record mine, up to
// record n, and forgets what was passed over.
func (c *course) merge(theirs []replica.Rollback, mine, n uint64) {
	i, _ := c.find(mine + 1)
	j, _ := c.find(n + 1)
	from, _ := search(theirs, mine+1)
	to, _ := search(theirs, n+1)
	c.rollbacks = slices.Concat(c.rollbacks[:i], theirs[from:to], c.rollbacks[j:])
	c.passed = 0
}

// to returns where record n returns to, 0 if it is not known to be a rollback.
func (c *course) to(n uint64) uint64 {
	if i, found := c.find(n); found {
		return c.rollbacks[i].To
	}
	return 0
}

// note says where record n returns to; 0: it is no rollback.
func (c *course) note(n, to uint64) {
	i, found := c.find(n)
	if found {
		c.rollbacks = slices.Delete(c.rollbacks, i, i+1)
	}
	if to > 0 {
		c.rollbacks = slices.Insert(c.rollbacks, i, replica.Rollback{N: n, To: to})
	}
}

// known returns the last record that is known, applied or not.
func (c *course) known() uint64 {
	if len(c.rollbacks) == 0 {
		return c.passed
	}
	return max(c.passed, c.rollbacks[len(c.rollbacks)-1].N)
}

// cut forgets what is known of the records after n.
func (c *course) cut(n uint64) {
	i, _ := c.find(n + 1)
	c.rollbacks, c.passed, c.scanning = c.rollbacks[:i], 0, false
}

// path returns the records that count for the state after record n.
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

// A path is a list of records, ascending.
type path []stretch

// A stretch is the records from the first to the last.
type stretch struct{ first, last uint64 }

// from returns the first record of p that is n or later.
func (p path) from(n uint64) uint64 {
	i, _ := slices.BinarySearchFunc(p, n, func(s stretch, n uint64) int { return cmp.Compare(s.last, n) })
	if i == len(p) {
		return math.MaxUint64
	}
	return max(p[i].first, n)
}

func (p path) has(n uint64) bool { return p.from(n) == n }
