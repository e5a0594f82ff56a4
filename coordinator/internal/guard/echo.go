package guard

// mostCompared bounds how many contributions of a round are compared with each other: all pairs of
// so many take milliseconds.
const mostCompared = 1024

// thin makes devices whose contributions are alike count less: noise that several share does not
// contradict the roots, and moves the model as far as all of them together. Nobody counts more for
// it.
func (g *Guard) thin() {
	var others []*Contribution
	for i := range g.held {
		if k := &g.held[i]; !g.vouched(k.Slot) {
			g.slot(k.Slot).echo = 0
			others = append(others, k)
		}
	}
	if len(others) > mostCompared {
		return
	}
	alike := likeness(others)
	usual := median(append([]float64(nil), alike...))
	for i, k := range others {
		if alike[i] > usual {
			g.slot(k.Slot).echo = 1 - usual/alike[i]
		}
	}
}

// likeness returns for each contribution the sum of the squares of its positive cosines with all,
// itself included.
func likeness(all []*Contribution) []float64 {
	sums := make([]float64, len(all))
	for i, a := range all {
		for j := range all[:i] {
			product, most, _ := against(a.Values, 1, all[j].Values)
			if !(product > 0) {
				continue
			}
			cosine := product / most
			sums[i] += float64(cosine * cosine)
			sums[j] += float64(cosine * cosine)
		}
		sums[i]++
	}
	return sums
}
