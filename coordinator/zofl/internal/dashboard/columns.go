package dashboard

import (
	"math"
	"strconv"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
)

// numbers are a column in JSON: seven digits, which is all that a float32 has, and null for what is
// not a number.
type numbers []float64

// MarshalJSON implements [json.Marshaler].
func (c numbers) MarshalJSON() ([]byte, error) { return appendColumn(c, 'g', 7), nil }

// instants are times in JSON: seconds since 1970, with three decimals.
type instants []float64

// MarshalJSON implements [json.Marshaler].
func (c instants) MarshalJSON() ([]byte, error) { return appendColumn(c, 'f', 3), nil }

func appendColumn(c []float64, form byte, digits int) []byte {
	b := make([]byte, 0, 8*len(c)+2)
	b = append(b, '[')
	for i, v := range c {
		if i > 0 {
			b = append(b, ',')
		}
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			b = append(b, "null"...)
		case v == math.Trunc(v) && math.Abs(v) < 1<<53: // counts, whole
			b = strconv.AppendFloat(b, v, 'f', 0, 64)
		default:
			b = strconv.AppendFloat(b, v, form, digits, 64)
		}
	}
	return append(b, ']')
}

// rounds are points by columns: thousands of rounds have their names once.
type rounds struct {
	N             numbers  `json:"n"`
	Round         numbers  `json:"round"`
	Time          instants `json:"time"`
	Loss          numbers  `json:"loss"`
	Seconds       numbers  `json:"seconds"`
	Contributors  numbers  `json:"contributors"`
	Asked         numbers  `json:"asked"` // 0: nobody knows, on an open roster
	Late          numbers  `json:"late"`
	Declines      numbers  `json:"declines"`
	Up            numbers  `json:"up"`   // bytes
	Down          numbers  `json:"down"` // bytes
	Queries       numbers  `json:"queries"`
	Step          numbers  `json:"step"`
	Perturbations numbers  `json:"perturbations"`
	Epsilon       numbers  `json:"epsilon"`
	Refused       numbers  `json:"refused"` // messages since the round before
}

// An evaluation is what devices measured of the state after record N.
type evaluation struct {
	N       uint64              `json:"n"`
	Devices uint32              `json:"devices"`
	Asked   uint32              `json:"asked,omitempty"`
	Metrics map[string]*float64 `json:"metrics"`
}

// split returns the rounds among points, nil if there is none, and the evaluations. The first phase
// of a round of two is no round of its own.
func split(points []history.Point) (*rounds, []evaluation) {
	c, evaluations := &rounds{}, []evaluation(nil)
	for i := range points {
		p := &points[i]
		if e := p.Evaluation; e != nil {
			evaluations = append(evaluations, evaluation{p.N, e.Devices, e.Asked, e.Metrics})
		}
		if p.Phase == 0 && p.Contributors > 0 {
			c.add(p)
		}
	}
	if len(c.N) == 0 {
		c = nil
	}
	return c, evaluations
}

func (c *rounds) add(p *history.Point) {
	loss := math.NaN()
	if p.Loss != nil {
		loss = *p.Loss
	}
	c.N = append(c.N, float64(p.N))
	c.Round = append(c.Round, float64(p.Round))
	c.Time = append(c.Time, float64(p.Time.UnixMilli())/1000)
	c.Loss = append(c.Loss, loss)
	c.Seconds = append(c.Seconds, p.Seconds)
	c.Contributors = append(c.Contributors, float64(p.Contributors))
	c.Asked = append(c.Asked, float64(p.Asked))
	c.Late = append(c.Late, float64(p.Late))
	c.Declines = append(c.Declines, float64(p.Declines))
	c.Up = append(c.Up, float64(p.BytesUp))
	c.Down = append(c.Down, float64(p.BytesDown))
	c.Queries = append(c.Queries, float64(p.Queries))
	c.Step = append(c.Step, float64(p.Step))
	c.Perturbations = append(c.Perturbations, float64(p.Perturbations))
	c.Epsilon = append(c.Epsilon, p.Epsilon)
	refused := uint64(0)
	for _, n := range p.Rejected {
		refused += n
	}
	c.Refused = append(c.Refused, float64(refused))
}
