package history

import "maps"

// A history never has more points and marks than these.
const (
	mostPoints = 8192
	mostMarks  = 1024
	// mostOfDevices are the most marks of work in vain, and of ids of two devices: where a whole fleet
	// is late, all say the same.
	mostOfDevices = 64
)

// halve says which of n things to keep. Of the older half it keeps every second one, the first, and
// all precious ones. If that drops less than a quarter of the older half, it also drops every
// second precious one there.
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

// bound keeps the history within its bounds, and says whether it had to. The caller holds mu.
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

// thinPoints thins out the older half. It drops last the points with metrics, the points at marks,
// and the first points, with which later losses are compared.
func thinPoints(points []Point, marks []Mark) []Point {
	marked := make(map[uint64]bool, len(marks))
	for _, m := range marks {
		marked[m.N] = true
	}
	keep := halve(len(points), func(i int) bool {
		return i < mostWindow || points[i].Evaluation != nil || marked[points[i].N]
	})
	kept := make([]Point, 0, len(points))
	var before map[string]uint64 // what was rejected at points that go
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

// sum returns the sums by cause, in a map of its own.
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

// thinMarks thins out the older half. It drops last the marks that changed the run.
func thinMarks(marks []Mark) []Mark {
	keep := halve(len(marks), func(i int) bool {
		k := marks[i].Kind
		return k == Changed || k == RolledBack || k == Ended || k == Diverged || k == NoFall
	})
	kept := make([]Mark, 0, len(marks))
	for i, m := range marks {
		if keep[i] {
			kept = append(kept, m)
		}
	}
	return kept
}
