package dashboard

import (
	"cmp"
	"math"
	"strconv"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
)

// numbers are a column in JSON, with null for what is not a number. Seven digits are all that a
// float32 has; times, in seconds since 1970, have three decimals.
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

// rounds are points by columns: thousands of rounds have their names once.
type rounds map[string]numbers

// names are those that the page has for some columns.
var names = map[string]string{"rejected": "refused", "bytes_up": "up", "bytes_down": "down"}

// An evaluation is the metrics that devices measured for the state after record N.
type evaluation struct {
	N       uint64              `json:"n"`
	Devices uint32              `json:"devices"`
	Asked   uint32              `json:"asked,omitempty"`
	Metrics map[string]*float64 `json:"metrics"`
}

// split returns the rounds among points, nil if there is none, and the evaluations. The first phase
// of a round of two is no round of its own.
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
