package history

import "maps"

// mostPoints and mostMarks bound the points and marks of a history.
const (
	mostPoints = 8192
	mostMarks  = 1024
	// mostOfDevices bounds the marks of each kind that is about one device, see [Kind.OfDevice]. If a
	// whole fleet is late, all such marks say the same.
	mostOfDevices = 64
)

// halve says which of n elements to keep. Of the older half it keeps the first element, every
// second element, and all precious elements. If that drops less than a quarter of the older half,
// halve also drops every second precious element of that half.
func halve(n int, precious func(i int) bool) (keep []bool) {
	keep = make([]bool, n)
	for i := range keep {
		keep[i] = true
	}
	dropped := 0
	drop := func(these bool) {
		odd := false
		for i := 1; i < n/2; i++ {
			if precious(i) != these {
				continue
			}
			if odd = !odd; odd {
				keep[i] = false
				dropped++
			}
		}
	}
	if drop(false); dropped < n/8 {
		drop(true)
	}
	return keep
}

// bound drops points and marks until the history is within its bounds, and says whether it dropped
// any. The caller holds mu.
func (h *History) bound() bool {
	full := false
	for len(h.points) >= mostPoints {
		h.points, full = thinPoints(h.points, h.marks), true
	}
	for len(h.marks) >= mostMarks {
		h.marks, full = thinMarks(h.marks), true
	}
	return full
}

// thinPoints drops points of the older half as halve says. The points with metrics, the points at
// marks, and the first points are precious. NoFall compares later losses with those of the first
// points.
func thinPoints(points []Point, marks []Mark) []Point {
	marked := make(map[uint64]bool, len(marks))
	for _, m := range marks {
		marked[m.N] = true
	}
	keep := halve(len(points), func(i int) bool {
		return i < mostWindow || points[i].Evaluation != nil || marked[points[i].N]
	})
	kept := make([]Point, 0, len(points))
	var before map[string]uint64 // rejected messages of the dropped points
	for i, p := range points {
		if len(before) > 0 {
			p.Rejected = sum(p.Rejected, before)
		}
		if before = nil; !keep[i] {
			before = p.Rejected
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

// sum returns a new map with the sums of a and b by cause.
func sum(a, b map[string]uint64) map[string]uint64 {
	c := maps.Clone(a)
	if c == nil {
		c = map[string]uint64{}
	}
	for cause, n := range b {
		c[cause] += n
	}
	return c
}

// thinMarks drops marks of the older half as halve says. The marks of events that changed the run
// are precious.
func thinMarks(marks []Mark) []Mark {
	keep := halve(len(marks), func(i int) bool {
		k := marks[i].Kind
		return k == Changed || k == RolledBack || k == Ended || k == Diverged || k == NoFall ||
			k == Tagged
	})
	kept := make([]Mark, 0, len(marks))
	for i, m := range marks {
		if keep[i] {
			kept = append(kept, m)
		}
	}
	return kept
}
