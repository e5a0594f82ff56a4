package history

import (
	"cmp"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
)

// A History is a [report.Recorder] that keeps the points and marks of a run. The zero value is
// ready to use. It keeps points and marks in memory until [History.Lead] names a store. Any
// goroutine may call the methods of a History.
//
// Invariants:
//  1. points ascend by N, and no two have the same.
//  2. A point or mark that was handed out does not change: another one takes its place.
//  3. There are less than mostPoints points and mostMarks marks.
type History struct {
	mu      sync.Mutex // guards what follows
	points  []Point
	marks   []Mark // in the order in which they happened
	readers map[*Subscription]struct{}
	run     Run
	price   price
	queries uint64        // loss evaluations of a device up to the last point
	dropped []report.Drop // up to the last point
	keeper  *keeper       // nil: in memory alone
	logger  *slog.Logger  // nil: nothing is logged

	reports reports   // that no point has yet
	summed  time.Time // when an ended run's were added
	over    bool      // the run has ended

	within time.Duration // how long a store may take; 0: storeWithin
}

var _ report.Recorder = (*History)(nil)

// A Run is the part of the leading coordinator that a history needs. coordinator.Coordinator
// implements it.
type Run interface {
	Plan() plan.Plan
	Status() report.Status
}

// Record implements [report.Recorder]. Record never fails. Record waits only while another
// goroutine copies points.
func (h *History) Record(e report.Event) error {
	at := inUTC(time.Now())
	h.mu.Lock()
	run := h.run
	h.mu.Unlock()
	switch e.Kind {
	case report.RoundDone, report.PhaseDone:
		p := pointOf(&e, at)
		h.measure(run, &p)
		h.addPoint(p)
		if e.Kind == report.RoundDone {
			h.watchFall(&e, at)
		}
	case report.Evaluated:
		h.addEvaluation(run, &e, at)
	case report.Reported:
		h.heard(&e, at)
	case report.Improved:
		h.addBest(e.Best, at)
	default:
		h.reprice(&e)
		if m, ok := markOf(&e, at); ok {
			h.addMark(m)
		}
		if e.Kind == report.RunEnded {
			h.ended()
			h.watchFall(&e, at)
		}
	}
	return nil
}

// Snapshot returns the points from a record on, ascending, and the marks since then, in the order
// in which they happened. The caller may change the slices, but not the values to which they point.
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

// Last returns the points of the last round and of the last evaluation. A result is nil if there is
// no such point.
func (h *History) Last() (round, evaluated *Point) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.points) - 1; i >= 0 && (round == nil || evaluated == nil); i-- {
		p := &h.points[i]
		if round == nil && p.IsRound() && p.Phase != 1 {
			round = copied(p)
		}
		if evaluated == nil && p.Evaluation != nil {
			evaluated = copied(p)
		}
	}
	return round, evaluated
}

func copied(p *Point) *Point {
	c := *p
	return &c
}

// find returns the index at which the point of a record is or would be, and whether it is there.
// The caller holds mu.
func (h *History) find(n uint64) (int, bool) {
	return slices.BinarySearchFunc(h.points, n, func(p Point, n uint64) int {
		return cmp.Compare(p.N, n)
	})
}

// addPoint adds a point, or replaces the point of the same record.
func (h *History) addPoint(p Point) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.reports) > 0 {
		p.Reported, h.reports = h.reports.summary(), nil
	}
	h.put(p)
	h.tell(line{Point: &p})
}

// put adds a point, or replaces the point of the same record. The caller holds mu.
func (h *History) put(p Point) {
	i, there := h.find(p.N)
	if !there {
		h.points = slices.Insert(h.points, i, p)
		return
	}
	p.Evaluation = cmp.Or(p.Evaluation, h.points[i].Evaluation)
	if p.Reported == nil {
		p.Reported = h.points[i].Reported
	}
	p.Best = p.Best || h.points[i].Best
	h.points[i] = p
}

// addEvaluation adds the metrics that devices measured to the point of the state's record.
func (h *History) addEvaluation(run Run, e *report.Event, at time.Time) {
	var names []string
	if run != nil {
		plan := run.Plan()
		names = plan.Metrics
	}
	v := evaluationOf(&e.Evaluation, names)
	h.amend(e.Evaluation.N, at, func(p *Point) { p.Evaluation = v })
}

// addBest notes that the model after a record is the best so far.
func (h *History) addBest(b *report.Best, at time.Time) {
	h.amend(b.N, at, func(p *Point) { p.Best = true })
}

// amend changes the point of a record.
func (h *History) amend(n uint64, at time.Time, change func(p *Point)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := Point{N: n, Time: at}
	i, there := h.find(p.N)
	switch {
	case there:
		p = h.points[i]
	case i > 0: // a record of another kind, or a point that was lost
		p.Round, p.Queries = h.points[i-1].Round, h.points[i-1].Queries
	}
	change(&p)
	h.put(p)
	h.tell(line{Point: &p})
}

func (h *History) addMark(m Mark) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if m.Kind.OfDevice() && h.marked(m.Kind) >= mostOfDevices {
		return
	}
	h.marks = append(h.marks, m)
	h.tell(line{Mark: &m})
}

// marked counts the marks of a kind. The caller holds mu.
func (h *History) marked(k Kind) (n int) {
	for i := range h.marks {
		if h.marks[i].Kind == k {
			n++
		}
	}
	return n
}

// tell keeps the history within its bounds, and passes a line to all readers and to the keeper of
// the store. The caller holds mu.
func (h *History) tell(l line) {
	thinned := h.bound()
	if h.keeper != nil {
		h.keeper.add(l, thinned)
	}
	for s := range h.readers {
		s.add(l)
	}
}

// begin prepares the history for another coordinator with a status.
func (h *History) begin(r Run, s *report.Status, logger *slog.Logger) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.run, h.price, h.dropped, h.logger = r, price{}, s.Counters.Drops(), logger
	h.over = s.State == report.Ended
	i, _ := h.find(s.N + 1)
	h.points = h.points[:i:i]
	h.marks = slices.DeleteFunc(slices.Clone(h.marks), func(m Mark) bool { return m.N > s.N })
	h.settle()
}

// merge adds a stored line, and says whether it did. merge ignores a line of a record after last.
func (h *History) merge(l line, last uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case l.Point != nil && l.Point.N <= last:
		h.put(*l.Point)
		if len(h.points) >= 2*mostPoints {
			h.bound()
		}
	case l.Mark != nil && l.Mark.N <= last:
		if !slices.ContainsFunc(h.marks, l.Mark.same) {
			h.marks = append(h.marks, *l.Mark)
		}
		if len(h.marks) >= 2*mostMarks {
			h.bound()
		}
	default:
		return l.Version > 0
	}
	return true
}

// settle updates the history after merge added lines, and says whether it had to drop points or
// marks. The caller holds mu.
func (h *History) settle() bool {
	slices.SortStableFunc(h.marks, func(a, b Mark) int { return a.Time.Compare(b.Time) })
	h.queries = 0
	if len(h.points) > 0 {
		h.queries = h.points[len(h.points)-1].Queries
	}
	return h.bound()
}
