package history

import (
	"slices"
	"sync"
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

// A History is a [report.Recorder] that keeps the points and marks of a run. The zero value is ready
// to use, and keeps them in memory. Any goroutine may call its methods.
//
// Invariants:
//  1. points ascend by N, and no two have the same.
//  2. A point or mark that was handed out does not change: changes replace it.
type History struct {
	mu      sync.Mutex // guards what follows
	points  []Point
	marks   []Mark // in the order in which they happened
	readers map[*Subscription]struct{}
	run     Run
	price   price
	queries uint64        // of a device, up to the last point
	dropped []report.Drop // up to the last point
}

// A Run is what a history asks of the coordinator that leads. [coordinator.Coordinator] is one.
type Run interface {
	Plan() wire.Plan
	Status() report.Status
}

// Lead says who leads: from now on, events are that coordinator's.
func (h *History) Lead(r Run) {
	status := r.Status()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.run, h.price, h.dropped = r, price{}, status.Counters.Drops()
}

// Record implements [report.Recorder]. It never fails.
func (h *History) Record(e report.Event) error {
	at := time.Now().UTC().Truncate(time.Millisecond)
	h.mu.Lock()
	run := h.run
	h.mu.Unlock()
	switch e.Kind {
	case report.RoundDone, report.PhaseDone:
		p := pointOf(&e, at)
		h.measure(run, &p)
		h.addPoint(p)
	case report.Evaluated:
		h.addEvaluation(run, &e, at)
	default:
		if m, ok := markOf(&e, at); ok {
			h.addMark(m)
		}
	}
	return nil
}

// Snapshot returns the points of records from a number on, ascending, and the marks since then, in
// the order in which they happened. The caller may keep both, and change neither's maps.
func (h *History) Snapshot(from uint64) ([]Point, []Mark) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i, _ := h.find(from)
	marks := []Mark{}
	for _, m := range h.marks {
		if m.N >= from {
			marks = append(marks, m)
		}
	}
	return append([]Point{}, h.points[i:]...), marks
}

// find returns where the point of a record is or would be. The caller holds mu.
func (h *History) find(n uint64) (int, bool) {
	return slices.BinarySearchFunc(h.points, n, func(p Point, n uint64) int {
		switch {
		case p.N < n:
			return -1
		case p.N > n:
			return 1
		}
		return 0
	})
}

// addPoint adds a point, or puts it in the place of one of the same record.
func (h *History) addPoint(p Point) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.put(p)
	h.tell(entry{Point: &p})
}

// put adds a point, or puts it in the place of one of the same record. The caller holds mu.
func (h *History) put(p Point) {
	i, there := h.find(p.N)
	if there {
		if p.Evaluation == nil {
			p.Evaluation = h.points[i].Evaluation
		}
		h.points[i] = p
		return
	}
	h.points = slices.Insert(h.points, i, p)
}

// addEvaluation adds what devices measured to the point of their state's record.
func (h *History) addEvaluation(run Run, e *report.Event, at time.Time) {
	var names []string
	if run != nil {
		plan := run.Plan()
		names = plan.Metrics
	}
	v := evaluationOf(&e.Evaluation, names)
	h.mu.Lock()
	defer h.mu.Unlock()
	p := Point{N: e.Evaluation.N, Time: at}
	i, there := h.find(p.N)
	switch {
	case there:
		p = h.points[i]
	case i > 0:
		p.Round = h.points[i-1].Round
	}
	p.Evaluation = v
	h.put(p)
	h.tell(entry{Point: &p})
}

func (h *History) addMark(m Mark) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.marks = append(h.marks, m)
	h.tell(entry{Mark: &m})
}
