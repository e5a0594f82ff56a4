package surrogate

import (
	"cmp"
	"slices"
)

// A history has the latest points, in a ring.
type history struct {
	n, head   int
	x         []float64
	y         []float64
	neighbors []neighbor
}

// A neighbor is point i, oldest first, with its squared distance from x.
type neighbor struct {
	i       int
	squared float64
}

func newHistory(size, dim int) *history {
	return &history{
		x:         make([]float64, size*dim),
		y:         make([]float64, size),
		neighbors: make([]neighbor, 0, size),
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

// nearest returns at most that many points, those nearest to x, oldest first. Of points at
// the same distance it prefers the later ones.
func (h *history) nearest(x []float64, most int) []neighbor {
	h.neighbors = h.neighbors[:0]
	for i := range h.n {
		xi, _ := h.point(i)
		h.neighbors = append(h.neighbors, neighbor{i, squaredDistance(xi, x)})
	}
	if h.n > most {
		slices.SortFunc(h.neighbors, func(a, b neighbor) int {
			return cmp.Or(cmp.Compare(a.squared, b.squared), cmp.Compare(b.i, a.i))
		})
		h.neighbors = h.neighbors[:most]
		slices.SortFunc(h.neighbors, func(a, b neighbor) int { return cmp.Compare(a.i, b.i) })
	}
	return h.neighbors
}

// Center conditions a process with Nearest on the Window points nearest to x, of all that
// it keeps. Call it with the point at which the gradient is needed next. Without Nearest
// it does nothing. It makes a new fit, at n^2 d/2 + n^3/6, unless the process is already
// conditioned on these points, which is so until there are more than Window.
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

// conditionedOn reports whether the points in the window are these, in this order.
func (p *Process) conditionedOn(chosen []neighbor, first int) bool {
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
