package history

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire/deviceinfo"
)

// mostReported bounds the names of a point's reported values, and those of the coordinator's
// program. Of more names, those of most devices stay: a device that invents names pushes out
// nobody's.
const mostReported = 32

// A Reported describes the values that devices, and the coordinator's program, reported under one
// name since the point before: of each, the last value. A single liar does not move the median.
type Reported struct {
	Median    float64 `json:"median"`
	Min       float64 `json:"min"`
	Max       float64 `json:"max"`
	Reporters uint32  `json:"reporters"`
}

// reports are values that no point has yet, by the id of the device; "" is the coordinator's
// program.
type reports map[string]deviceinfo.Values

// take adds the values of an event. A reporter with too many names keeps the last ones.
func (r reports) take(e *report.Event) {
	most := deviceinfo.MaxValues
	if e.ID == "" {
		most = mostReported
	}
	all := r[e.ID]
	if all == nil {
		all = make(deviceinfo.Values, len(e.Values))
		r[e.ID] = all
	}
	maps.Copy(all, e.Values)
	if len(all) > most {
		r[e.ID] = maps.Clone(e.Values)
	}
}

// summary describes the values by name.
func (r reports) summary() map[string]Reported {
	values := map[string][]float64{}
	for _, of := range r {
		for name, v := range of {
			values[name] = append(values[name], v)
		}
	}
	names := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(values[b]), len(values[a])), cmp.Compare(a, b))
	})
	out := map[string]Reported{}
	for _, name := range names[:min(len(names), mostReported)] {
		v := values[name]
		slices.Sort(v)
		out[name] = Reported{Median: median(v), Min: v[0], Max: v[len(v)-1],
			Reporters: uint32(len(v))}
	}
	return out
}

// median returns the middle of sorted values, or the mean of the two middle ones.
func median(v []float64) float64 {
	high := v[len(v)/2]
	return high - (high-v[(len(v)-1)/2])/2
}

// heard keeps reported values for the next point. A run that has ended gets no other point: then
// heard adds them to the last one, of a large fleet at most once a second.
func (h *History) heard(e *report.Event, at time.Time) {
	const few = 64
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reports == nil {
		h.reports = reports{}
	}
	h.reports.take(e)
	if h.over && (len(h.reports) <= few || at.Sub(h.summed) >= time.Second) {
		h.summed = at
		h.addReports()
	}
}

// addReports adds the reported values that no point has yet to the last point of a round. The
// caller holds mu.
func (h *History) addReports() {
	if len(h.reports) == 0 || len(h.points) == 0 {
		return
	}
	p := h.points[len(h.points)-1]
	all := maps.Clone(p.Reported)
	if all == nil {
		all = map[string]Reported{}
	}
	maps.Copy(all, h.reports.summary())
	p.Reported = all
	h.put(p)
	h.tell(line{Point: &p})
}

// ended adds the last reported values to the last point.
func (h *History) ended() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	h.addReports()
}

// flush adds to the last point what devices reported since the run ended. A run that has not ended
// keeps the values for its next point.
func (h *History) flush() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		h.addReports()
	}
}

// LastReported returns, of each name, what was reported last, for the names of the last rounds.
func (h *History) LastReported() map[string]Reported {
	const rounds = 256
	h.mu.Lock()
	defer h.mu.Unlock()
	all := map[string]Reported{}
	for i := len(h.points) - 1; i >= max(len(h.points)-rounds, 0); i-- {
		for _, name := range slices.Sorted(maps.Keys(h.points[i].Reported)) {
			if _, has := all[name]; !has && len(all) < mostReported {
				all[name] = h.points[i].Reported[name]
			}
		}
	}
	return all
}

// ReportedNames returns the names of all reported values of points, sorted.
func ReportedNames(points []Point) []string {
	names := map[string]bool{}
	for i := range points {
		for name := range points[i].Reported {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
