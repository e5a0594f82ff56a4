package surrogate

import (
	"cmp"
	"slices"
)

// A history is the latest points, in a ring.
type history struct {
	n, head int
	x       []float64
	y       []float64
	ranked  []ranked
}

// A ranked is point i, oldest first, with its squared distance.
type ranked struct {
	i       int
	squared float64
}

func newHistory(size, dim int) *history {
	return &history{
		x:      make([]float64, size*dim),
		y:      make([]float64, size),
		ranked: make([]ranked, 0, size),
	}
}

func (h *history) point(i int) (x []float64, y float64) {
	slot, d := (h.head+i)%len(h.y), len(h.x)/len(h.y)
	return h.x[slot*d : (slot+1)*d : (slot+1)*d], h.y[slot]
}

func (h *history) add(x []float64, y float64) {
	if h.n < len(h.y) {
		h.n++
	} else {
		h.head = (h.head + 1) % len(h.y)
	}
	own, _ := h.point(h.n - 1)
	copy(own, x[:len(own)])
	h.y[(h.head+h.n-1)%len(h.y)] = y
}

// nearest returns the points nearest to x, at most so many, oldest first. Of
// points at one distance the later are preferred.
func (h *history) nearest(x []float64, most int) []ranked {
	h.ranked = h.ranked[:0]
	for i := range h.n {
		xi, _ := h.point(i)
		h.ranked = append(h.ranked, ranked{i, squaredDistance(xi, x)})
	}
	if h.n > most {
		slices.SortFunc(h.ranked, func(a, b ranked) int {
			return cmp.Or(cmp.Compare(a.squared, b.squared), cmp.Compare(b.i, a.i))
		})
		h.ranked = h.ranked[:most]
		slices.SortFunc(h.ranked, func(a, b ranked) int { return cmp.Compare(a.i, b.i) })
	}
	return h.ranked
}

// Center conditions a process with Nearest on the Window points nearest to x of
// all that it keeps: call it where the gradient is asked for next. Without
// Nearest it does nothing. It is a fit from nothing, n^2 d/2 + n^3/6, unless the
// points are those that the process is conditioned on already, as they are until
// there are more than Window.
func (p *Process) Center(x []float64) {
	if p.past == nil {
		return
	}
	chosen := p.past.nearest(x[:p.cfg.Dim], p.cfg.Window)
	first := p.added - p.past.n
	if p.conditionedOn(chosen, first) {
		return
	}
	if p.inv != nil {
		p.inv.live = false
	}
	for _, r := range chosen {
		xi, y := p.past.point(r.i)
		p.insert(xi, y, first+r.i)
	}
	p.sys.settle()
}

// conditionedOn says whether the points in the window are these, in this order.
func (p *Process) conditionedOn(chosen []ranked, first int) bool {
	if len(chosen) != p.sys.n {
		return false
	}
	for i, r := range chosen {
		if p.id[p.sys.slot(i)] != first+r.i {
			return false
		}
	}
	return true
}
