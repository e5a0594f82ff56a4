package dashboard

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

const (
	mostBars  = 24 // of a histogram
	mostWorst = 5  // devices that a histogram names
)

// A histogram counts the devices of a fleet by a quantity. Bar i counts those from Edges[i] up to
// Edges[i+1].
type histogram struct {
	Name    string    `json:"name"`
	Edges   []float64 `json:"edges"`
	Counts  []int     `json:"counts"`
	Devices int       `json:"devices"`
	Median  float64   `json:"median"`
	P95     float64   `json:"p95"` // 95 % of the devices have at most as much
	Worst   []extreme `json:"worst"`
}

// An extreme is a device that stands out.
type extreme struct {
	ID    string  `json:"id"`
	Value float64 `json:"value"`
}

// quantities are what the page has histograms of.
var quantities = []struct {
	name  string
	of    func(d *operate.Device) (v float64, ok bool)
	whole bool // counts
	least bool // the devices with the least stand out
}{
	{name: "latency", of: func(d *operate.Device) (float64, bool) {
		return d.Latency, d.Latency > 0
	}},
	{name: "contributions", whole: true, least: true, of: func(d *operate.Device) (float64, bool) {
		return float64(d.Contributions), d.State != "retired"
	}},
	{name: "declines", whole: true, of: func(d *operate.Device) (float64, bool) {
		return float64(d.Declines), true
	}},
}

// histograms answers with the histograms of a fleet.
func (s *Server) histograms(w http.ResponseWriter, _ *http.Request, b *Board) {
	reply(w, http.StatusOK, map[string]any{"histograms": b.list.histograms(b.leader())})
}

func (l *listing) histograms(run Run) (list []histogram) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh(run, time.Now())
	for _, q := range quantities {
		var all []extreme
		for i := range l.devices {
			if v, ok := q.of(&l.devices[i]); ok {
				all = append(all, extreme{l.devices[i].ID, v})
			}
		}
		h := histogramOf(all, q.whole, q.least)
		h.Name = q.name
		list = append(list, h)
	}
	return list
}

// histogramOf returns the histogram of devices, in bars of a round width, and names those with the
// most, or the least. Devices that are like most others are not named.
func histogramOf(all []extreme, whole, least bool) histogram {
	h := histogram{Edges: []float64{0, 1}, Counts: []int{0}, Devices: len(all), Worst: []extreme{}}
	if len(all) == 0 {
		return h
	}
	slices.SortFunc(all, func(a, b extreme) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.ID, b.ID))
	})
	low, high := all[0].Value, all[len(all)-1].Value
	h.Median, h.P95 = all[len(all)/2].Value, all[(len(all)*95+99)/100-1].Value
	width := roundWidth((high-low)/(mostBars-2), whole)
	first := math.Floor(low / width)
	h.Counts = make([]int, int(math.Floor(high/width)-first)+1)
	for _, d := range all {
		h.Counts[int(math.Floor(d.Value/width)-first)]++
	}
	h.Edges = nil
	if whole && width == 1 {
		first -= 0.5 // each count in the middle of its bar
	}
	for i := range len(h.Counts) + 1 {
		h.Edges = append(h.Edges, (first+float64(i))*width)
	}
	if !least {
		slices.Reverse(all)
	}
	for _, d := range all[:min(mostWorst, len(all))] {
		if d.Value != h.Median {
			h.Worst = append(h.Worst, d)
		}
	}
	return h
}

// roundWidth returns 1, 2 or 5 times a power of ten that is at least a width, and at least 1 for
// counts.
func roundWidth(width float64, whole bool) float64 {
	if whole {
		width = max(width, 1)
	}
	if !(width > 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(width)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= width {
			return m * power
		}
	}
	return 10 * power
}
