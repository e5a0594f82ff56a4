package robust

// mostFitted bounds the slots in a [fit], because a fit holds a number for every pair of slots.
const mostFitted = 1024

// sweeps is how often a round improves each weight of a [fit].
const sweeps = 8

// A fit finds the weights w that the package's doc defines. A fit sums the products of each two
// devices' contributions. These sums show which differences cancel, as between honest devices with
// different data, and which differences only add up, as with noise that several devices share.
type fit struct {
	pairs   [][]float64 // at i, j <= i: sum of the products of c/n of slots i and j
	along   []float64   // sum of the products of a slot's c/n and r
	roots   float64     // sum of the squares of r
	scalars float64     // number of them
	weights []float64   // by slot
}

// fade multiplies the sums of the earlier rounds by keep, so that those rounds count less.
func (f *fit) fade(keep float64) {
	f.roots, f.scalars = keep*f.roots, keep*f.scalars
	for i, row := range f.pairs {
		f.along[i] *= keep
		for j := range row {
			row[j] *= keep
		}
	}
}

// add adds a round: r, and the c/n of each slot, in ascending order of slots.
func (f *fit) add(r []float64, slots []uint32, shares [][]float64) {
	f.roots, f.scalars = f.roots+dot(r, r), f.scalars+float64(len(r))
	for i, slot := range slots {
		for uint64(len(f.along)) <= uint64(slot) {
			f.pairs = append(f.pairs, make([]float64, len(f.pairs)+1))
			f.along, f.weights = append(f.along, 0), append(f.weights, 1)
		}
		f.along[slot] += dot(shares[i], r)
		for j, other := range slots[:i+1] {
			f.pairs[slot][other] += dot(shares[i], shares[j])
		}
	}
}

// common returns s and (e/s)^2 for the slots for which in returns true, or 0 and 0 if the
// contributions of these slots together show nothing of r.
func (f *fit) common(in func(slot int) bool) (s, stiff float64) {
	var along, pairs float64
	for i, row := range f.pairs {
		if !in(i) {
			continue
		}
		along += f.along[i]
		for j, v := range row[:i] {
			if in(j) {
				pairs += 2 * v
			}
		}
		pairs += row[i]
	}
	if !(along > 0 && pairs > 0) {
		return 0, 0
	}
	s = min(along/pairs, 1)
	left := max(f.roots-float64(2*s*along)+float64(s*s*pairs), 0)
	return s, left / f.scalars / (s * s)
}

// solve improves the weights of the slots for which in returns true, and returns s. solve returns 0
// if the weights cannot be determined.
func (f *fit) solve(in func(slot int) bool) float64 {
	s, stiff := f.common(in)
	if s == 0 {
		return 0
	}
	for range sweeps {
		for i := range f.weights {
			f.weights[i] = 0
			if !in(i) {
				continue
			}
			f.weights[i] = s
			if all := f.pairs[i][i] + stiff; all > 0 {
				f.weights[i] = min(max((f.along[i]-f.told(i)+float64(stiff*s))/all, 0), s)
			}
		}
	}
	return s
}

// told returns the sum, over all slots but i, of the slot's weight times its product with slot i.
func (f *fit) told(i int) float64 {
	sum := dot(f.pairs[i][:i], f.weights[:i])
	for j := i + 1; j < len(f.weights); j++ {
		sum += float64(f.weights[j] * f.pairs[j][i])
	}
	return sum
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += float64(v * b[i])
	}
	return sum
}

// scaled returns v times a factor.
func scaled[T float32 | float64](v []T, factor float64) []float64 {
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = float64(x) * factor
	}
	return w
}
