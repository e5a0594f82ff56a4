package surrogate

import "cmp"

const (
	firstJitter = 1e-10 // relative to the kernel at distance 0, which is 1
	rounding    = 1e-16 // relative error of one addition
	refactorAt  = 32    // see settle
)

// A system is the linear system A a = y - m for a window of points, where A = K + (sigma^2 +
// jitter) I.
//
// A point keeps its slot while it is in the window; a new point takes the slot of the oldest point.
// So when points change, elements of matrices ordered by slot stay in place. The rows of the factor
// are ordered by the age of the points.
//
// Invariants:
//  1. Slots 0 to n-1 are in use; point i, oldest first, is in slot(i).
//  2. The last n-pending rows of the factor belong to points 0 to n-pending-1; rows
//     before them belong to removed points.
//  3. gram is K for the points of the factor that were not removed.
type system struct {
	window int
	noise  float64
	zero   bool // m is 0
	jitter float64

	n       int
	head    int // slot of the oldest
	pending int // latest points that are not in the factor
	since   int // points added since the factor was computed from scratch

	y    []float64 // by slot
	gram triangle  // K, by slot
	l    factor

	solved  bool
	weights []float64 // a, by slot, in units of scale
	scale   float64   // half the range of y
	mean    float64   // m
	z       []float64 // scratch, by age
}

func newSystem(window int, noise float64, zero bool) system {
	return system{
		window:  window,
		noise:   noise,
		zero:    zero,
		y:       make([]float64, window),
		gram:    newTriangle(window),
		l:       newFactor(window),
		weights: make([]float64, window),
		z:       make([]float64, window),
	}
}

// slot returns the slot of point i, oldest first.
func (s *system) slot(i int) int {
	if i += s.head; i >= s.window {
		i -= s.window
	}
	return i
}

// push adds a point with value y, and returns the point's slot. The caller must set the point's row
// of gram before the caller calls settle.
func (s *system) push(y float64) (slot int) {
	slot = s.n
	if s.n < s.window {
		s.n++
	} else {
		slot = s.head
		s.head = s.slot(1)
	}
	s.y[slot] = y
	s.pending = min(s.pending+1, s.n)
	s.solved = false
	return slot
}

// addGram adds v to an element of gram if wanted is set.
func (s *system) addGram(a, b int, v float64, wanted bool) {
	if wanted {
		s.gram.set(a, b, s.gram.at(a, b)+v)
	}
}

// settle brings the factor up to date, and reports whether it computed the factor from scratch. To
// compute the factor from scratch takes n^3/6 operations. To replace one point takes 3 n^2/2 slower
// operations. We measured that computing from scratch is faster if n/32 or more points are new.
// settle also computes the factor from scratch after a whole window of new points, so that rounding
// errors do not accumulate and jitter does not remain.
func (s *system) settle() (afresh bool) {
	if s.pending == 0 {
		return false
	}
	s.since += s.pending
	many := s.pending > 4 && s.pending*refactorAt > s.n
	if many || s.since > s.window || !s.update() {
		s.refactor()
		afresh = true
	}
	s.pending = 0
	return afresh
}

// update drops the rows of removed points, and appends rows for the pending points.
func (s *system) update() bool {
	for gone := s.l.n - (s.n - s.pending); gone > 0; gone-- {
		s.l.drop()
	}
	for i := s.n - s.pending; i < s.n; i++ {
		if !s.appendRow(i) {
			return false
		}
	}
	return true
}

// refactor computes the factor from scratch, with the smallest jitter of 0, 1e-10, 1e-9, ... that
// is enough.
func (s *system) refactor() {
	s.since = 0
	for s.jitter = 0; !s.tryFactor(); s.jitter = max(firstJitter, 10*s.jitter) {
	}
}

func (s *system) tryFactor() bool {
	s.l.n = 0
	for i := range s.n {
		if !s.appendRow(i) {
			return false
		}
	}
	return true
}

// appendRow appends point i to the factor of the points before it. With exact arithmetic, each
// pivot would be at least sigma^2 + jitter. If a pivot is less than half of that, rounding errors
// have made it useless, and appendRow returns false. An element that is not finite counts as 0, so
// that some jitter is always enough.
func (s *system) appendRow(i int) bool {
	slot := s.slot(i)
	for j := range i {
		v := s.gram.at(slot, s.slot(j))
		if v-v != 0 {
			v = 0
		}
		s.z[j] = v
	}
	pivot := s.gram.at(slot, slot)
	if pivot-pivot != 0 {
		pivot = 1
	}
	extra := s.noise + s.jitter
	least := max(extra/2, rounding*float64(i+1)*pivot)
	return s.l.append(s.z[:i], pivot+extra, least)
}

// solve brings the weights up to date. solve scales the values to [-1, 1], so that only a result in
// units of y can overflow.
func (s *system) solve() {
	if s.solved {
		return
	}
	s.settle()
	s.solved = true
	middle, half := s.valueRange()
	z := s.z[:s.n]
	for i := range z {
		z[i] = (s.y[s.slot(i)] - middle) / half
	}
	s.mean, s.scale = middle+half*s.center(z), half
	s.l.solveLower(z, z)
	s.l.solveUpper(z, s.n)
	for i, v := range z {
		s.weights[s.slot(i)] = v
	}
}

// center subtracts the prior mean from the scaled values, and returns the prior mean.
func (s *system) center(z []float64) (mean float64) {
	if s.zero {
		return 0
	}
	for _, v := range z {
		mean += v
	}
	mean /= float64(max(len(z), 1))
	for i := range z {
		z[i] -= mean
	}
	return mean
}

// valueRange returns the middle of the window's values, or 0 if the prior mean is 0, and the
// largest distance of a value from the middle, or 1 if that distance is 0.
func (s *system) valueRange() (middle, half float64) {
	if s.n == 0 {
		return 0, 1
	}
	low, high := s.y[0], s.y[0]
	for _, v := range s.y[1:s.n] {
		low, high = min(low, v), max(high, v)
	}
	middle, half = low/2+high/2, high/2-low/2
	if s.zero {
		middle, half = 0, max(-low, high)
	}
	half = cmp.Or(half, 1)
	return middle, half
}
