package dashboard

import (
	"cmp"
	"math"
	"strconv"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
)

// numbers are the column of a table in JSON, with null for a NaN or an infinity. MarshalJSON writes
// seven digits, as many as a float32 has. Times, in seconds since 1970, have three decimals.
type numbers []float64

// MarshalJSON implements [json.Marshaler].
func (c numbers) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 8*len(c)+2)
	b = append(b, '[')
	for i, v := range c {
		if i > 0 {
			b = append(b, ',')
		}
		switch size := math.Abs(v); {
		case math.IsNaN(v) || math.IsInf(v, 0):
			b = append(b, "null"...)
		case v == math.Trunc(v) && size < 1<<53: // counts, whole
			b = strconv.AppendFloat(b, v, 'f', 0, 64)
		case size > 1e6 && size < 1e12:
			b = strconv.AppendFloat(b, v, 'f', 3, 64)
		default:
			b = strconv.AppendFloat(b, v, 'g', 7, 64)
		}
	}
	return append(b, ']'), nil
}

// rounds are points in columns by name, so that the JSON of thousands of rounds has each name once.
type rounds map[string]numbers

// names maps names of figures to the page's names of columns, where they differ.
var names = map[string]string{"rejected": "refused", "bytes_up": "up", "bytes_down": "down"}

// An evaluation is the metrics that devices measured for the state after record N.
type evaluation struct {
	N       uint64              `json:"n"`
	Devices uint32              `json:"devices"`
	Asked   uint32              `json:"asked,omitempty"`
	Metrics map[string]*float64 `json:"metrics"`
}

// A reported is what apps reported since the point before record N.
type reported struct {
	N      uint64                      `json:"n"`
	Values map[string]history.Reported `json:"values"`
}

// reportedOf returns the reported values among points.
func reportedOf(points []history.Point) (list []reported) {
	for i := range points {
		if p := &points[i]; p.Reported != nil {
			list = append(list, reported{p.N, p.Reported})
		}
	}
	return list
}

// split returns the rounds and the evaluations among points. split returns nil rounds if there are
// none. The first phase of a round of two phases does not count as a round.
func split(points []history.Point) (c rounds, evaluations []evaluation) {
	for i := range points {
		p := &points[i]
		if e := p.Evaluation; e != nil {
			evaluations = append(evaluations, evaluation{p.N, e.Devices, e.Asked, e.Metrics})
		}
		if p.Phase > 0 || !p.IsRound() {
			continue
		}
		if c == nil {
			c = rounds{}
		}
		c.add("n", float64(p.N))
		c.add("round", float64(p.Round))
		c.add("time", float64(p.Time.UnixMilli())/1000)
		for _, f := range history.Figures {
			c.add(cmp.Or(names[f.Name], f.Name), f.Of(p))
		}
	}
	return c, evaluations
}

func (c rounds) add(name string, v float64) { c[name] = append(c[name], v) }
