package watchtui

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
)

// mostPoints bounds the points of a curve. A coordinator's own history has the same bound.
const mostPoints = 8192

// A track holds what the coordinator has sent about the rounds.
type track struct {
	epoch  uint64
	points []history.Point
	marks  []history.Mark
	seen   int      // marks that the coordinator has sent
	names  []string // of the metrics, sorted
	asked  uint64   // record of the last evaluation that the model requested again
	meter  terminal.Meter
}

// since returns the first record whose point the track lacks or should request again. The metrics
// of a state can reach the coordinator after it sent the state's point.
func (t *track) since(s *operate.Status) uint64 {
	if len(t.points) == 0 {
		return 0
	}
	next := t.points[len(t.points)-1].N + 1
	if s == nil || s.Evaluation == nil || s.Evaluation.N <= t.asked {
		return next
	}
	t.asked = s.Evaluation.N
	return min(next, t.asked)
}

// take adds the new points and marks of an answer. take begins anew if another coordinator leads,
// or if the coordinator has lost records.
func (t *track) take(a Answer) {
	if n := len(t.points); a.Status.Epoch != t.epoch || n > 0 && t.points[n-1].N > a.Status.N+1 {
		*t = track{epoch: a.Status.Epoch}
		if a.Question.Since > 0 || a.Question.Marks > 0 { // the rest comes with the next answer
			return
		}
	}
	if s := a.Status; s.Of > 0 {
		t.meter.Rounds = s.Of
	}
	for _, p := range a.Points {
		t.add(p)
	}
	t.marks, t.seen = append(t.marks, a.Marks...), t.seen+len(a.Marks)
	if n := len(t.marks); n > mostPoints {
		t.marks = slices.Clone(t.marks[n/2:])
	}
}

// add adds a point, or replaces the point of the same record.
func (t *track) add(p history.Point) {
	i, there := slices.BinarySearchFunc(t.points, p.N, func(q history.Point, n uint64) int {
		return cmp.Compare(q.N, n)
	})
	if there {
		t.points[i] = p
	} else {
		t.points = slices.Insert(t.points, i, p)
		t.measure(&p)
	}
	if p.Evaluation != nil {
		t.evaluated(p.Evaluation)
	}
	if n := len(t.points); n > mostPoints { // drop every second point of the older half
		kept := t.points[:0]
		for i, q := range t.points {
			if i >= n/2 || i%2 == 0 {
				kept = append(kept, q)
			}
		}
		t.points = kept
	}
}

// measure passes the time and the loss of a round to the meter.
func (t *track) measure(p *history.Point) {
	if !p.IsRound() || p.Phase == 1 {
		return
	}
	t.meter.Round(p.Round, p.Time)
	t.meter.Took(p.Contributors, p.Asked)
	if p.Loss != nil {
		t.meter.Lost(*p.Loss)
	} else {
		t.meter.Lost(math.NaN())
	}
}

// evaluated passes the metrics of an evaluation to the meter.
func (t *track) evaluated(e *history.Evaluation) {
	names := slices.Sorted(maps.Keys(e.Metrics))
	values := make([]float32, len(names))
	for i, name := range names {
		values[i] = float32(math.NaN())
		if v := e.Metrics[name]; v != nil {
			values[i] = float32(*v)
		}
		names[i] = terminal.Plain(name)
	}
	t.names, t.meter.Metrics = names, names
	t.meter.Evaluated(values)
}

// round returns the point of the last round, or nil if there is none.
func (t *track) round() *history.Point {
	for i := len(t.points) - 1; i >= 0; i-- {
		if p := &t.points[i]; p.IsRound() && p.Phase != 1 {
			return p
		}
	}
	return nil
}

// A curve holds values and their records, ascending by record.
type curve struct{ n, y []float64 }

func (c *curve) add(n uint64, v *float64) {
	if v != nil {
		c.n, c.y = append(c.n, float64(n)), append(c.y, *v)
	}
}

// losses returns the curve of the training loss.
func (t *track) losses() (c curve) {
	for i := range t.points {
		if p := &t.points[i]; p.IsRound() {
			c.add(p.N, p.Loss)
		}
	}
	return c
}

// measured returns the curve of a metric.
func (t *track) measured(name string) (c curve) {
	for i := range t.points {
		if e := t.points[i].Evaluation; e != nil {
			for raw, v := range e.Metrics {
				if terminal.Plain(raw) == name {
					c.add(t.points[i].N, v)
				}
			}
		}
	}
	return c
}
