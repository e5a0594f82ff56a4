package grouping

import (
	"slices"

	"github.com/zofl/zofl/prng"
)

// These constants bound the time of a split to some 40 ms of one CPU core, whatever the number of
// members.
const (
	chunkOf    = 100  // members that are split at a time; among more, groups are good enough
	splits     = 2500 // members times restarts
	mostSweeps = 30   // over all pairs; nearly always a few do
)

// split divides the members into groups of a size such that sum_S 1'C_S 1 is small; the last group
// may be smaller. split swaps members of two groups as long as a swap lowers that sum, and keeps
// the best result of several random starts.
func (s *sketches) split(slots []uint32, size int, d *dice) (groups [][]uint32) {
	slots = slices.Clone(slots)
	d.shuffle(slots)
	restarts := min(max(splits/max(len(slots), 1), 1), 25)
	for part := range slices.Chunk(slots, max(chunkOf/size, 2)*size) {
		t := s.tableOf(part, size)
		best, least := []uint32(nil), 0.0
		for range restarts {
			d.shuffle(part)
			if t.begin(part); t.improve() < least || best == nil {
				best, least = t.result(), t.cost()
			}
		}
		groups = slices.AppendSeq(groups, slices.Chunk(best, size))
	}
	return groups
}

// A table splits some members. A member's number is its index in slots.
//
// Invariant: to[i][g] is the sum of C_ij over the members j of group g.
type table struct {
	slots  []uint32
	number map[uint32]int
	size   int
	c      [][]float64
	group  []int // by number
	to     [][]float64
}

func (s *sketches) tableOf(slots []uint32, size int) *table {
	t := &table{slots: slices.Clone(slots), number: map[uint32]int{}, size: size,
		group: make([]int, len(slots))}
	for i, slot := range slots {
		t.number[slot] = i
		t.c = append(t.c, make([]float64, len(slots)))
		t.to = append(t.to, make([]float64, (len(slots)+size-1)/size))
	}
	for i := range slots {
		for j := range slots {
			t.c[i][j] = s.product(slots[i], slots[j])
		}
	}
	return t
}

// begin makes groups of the members in the given order.
func (t *table) begin(order []uint32) {
	for at, slot := range order {
		t.group[t.number[slot]] = at / t.size
	}
	for i := range t.to {
		clear(t.to[i])
		for j, g := range t.group {
			t.to[i][g] += t.c[i][j]
		}
	}
}

// improve swaps members until no swap lowers the cost, and returns the cost.
func (t *table) improve() float64 {
	least := 1e-9 * t.diagonal()
	for range mostSweeps {
		swapped := false
		for i := range t.group {
			for j := range i {
				if t.group[i] != t.group[j] && t.gain(i, j) > least {
					t.swap(i, j)
					swapped = true
				}
			}
		}
		if !swapped {
			break
		}
	}
	return t.cost()
}

// gain returns by how much the cost falls if members i and j change places.
func (t *table) gain(i, j int) float64 {
	a, b := t.group[i], t.group[j]
	return 2 * (t.to[i][a] - t.to[j][a] + t.to[j][b] - t.to[i][b] -
		(t.c[i][i] + t.c[j][j] - 2*t.c[i][j]))
}

func (t *table) swap(i, j int) {
	a, b := t.group[i], t.group[j]
	t.group[i], t.group[j] = b, a
	for k := range t.to {
		d := t.c[k][j] - t.c[k][i]
		t.to[k][a] += d
		t.to[k][b] -= d
	}
}

func (t *table) cost() (sum float64) {
	for i, g := range t.group {
		sum += t.to[i][g]
	}
	return sum
}

func (t *table) diagonal() (sum float64) {
	for i := range t.c {
		sum += t.c[i][i]
	}
	return sum
}

// result returns the slots of the members, group by group.
func (t *table) result() (slots []uint32) {
	for g := range t.to[0] {
		for i, of := range t.group {
			if of == g {
				slots = append(slots, t.slots[i])
			}
		}
	}
	return slots
}

// Dice draw the same numbers for the same key.
type dice struct {
	key prng.Key
	n   uint32
}

// below returns a random number below n, uniform up to an error of 2^-32 n.
func (d *dice) below(n int) int {
	d.n++
	return int(uint64(prng.Philox([4]uint32{d.n, 0, 0, 0}, d.key)[0]) * uint64(n) >> 32)
}

func (d *dice) shuffle(slots []uint32) {
	for i := len(slots) - 1; i > 0; i-- {
		j := d.below(i + 1)
		slots[i], slots[j] = slots[j], slots[i]
	}
}
