package results

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// A Comparison is two runs side by side.
type Comparison struct {
	A, B *Run
	// Measure is the compared quantity: a metric that both runs have, or the smoothed training loss.
	Measure string
	Rises   bool // a higher value is better
	a, b    Series
}

// Compare compares two runs by a metric. If metric is "", Compare takes accuracy, otherwise the
// first metric that both runs have, otherwise the training loss.
func Compare(a, b *Run, metric string) (*Comparison, error) {
	c := &Comparison{A: a, B: b, Measure: metric}
	both := slices.DeleteFunc(a.Metrics(), func(n string) bool {
		return !slices.Contains(b.Metrics(), n)
	})
	switch {
	case metric != "" && !slices.Contains(both, metric):
		return nil, fmt.Errorf("metric %q: both runs have %q: name one of these, or none for the "+
			"training loss", metric, both)
	case metric == "" && slices.Contains(both, "accuracy"):
		c.Measure = "accuracy"
	case metric == "" && len(both) > 0:
		c.Measure = both[0]
	}
	if c.Measure == "" {
		c.Measure = a.Loss().Name
		c.a, c.b = a.Loss().Smooth(), b.Loss().Smooth()
	} else {
		c.a, c.b = a.Metric(c.Measure), b.Metric(c.Measure)
	}
	if len(c.a.At) == 0 || len(c.b.At) == 0 {
		return nil, fmt.Errorf("%s: a run has no value of it, so there is nothing to compare", c.Measure)
	}
	rise := 0.0
	for _, s := range []Series{c.a, c.b} {
		rise += s.Last() - s.At[0].Value
	}
	c.Rises = rise > 0 && !strings.Contains(c.Measure, "loss")
	return c, nil
}

// A Difference is a field in which the plans of two runs differ. A value is empty if the plan does
// not set the field.
type Difference struct {
	Field string `json:"field"`
	A     string `json:"a"`
	B     string `json:"b"`
}

// mostShown bounds the characters of a field's value that Short returns.
const mostShown = 40

// Short cuts off a value after mostShown characters. A run key, for example, is too long to read.
func Short(value string) string {
	if r := []rune(value); len(r) > mostShown {
		return string(r[:mostShown]) + "…"
	}
	return value
}

// Differences are the fields in which the initial plans of the runs differ.
func (c *Comparison) Differences() ([]Difference, error) {
	a, err := valuesOf(&c.A.Plan)
	if err != nil {
		return nil, err
	}
	b, err := valuesOf(&c.B.Plan)
	if err != nil {
		return nil, err
	}
	list := []Difference{}
	for _, f := range plan.Fields() {
		if a[f.Name] != b[f.Name] {
			list = append(list, Difference{f.Name, a[f.Name], b[f.Name]})
		}
	}
	return list, nil
}

// valuesOf returns the fields of a plan by name.
func valuesOf(p *plan.Plan) (map[string]string, error) {
	values, err := planfile.Values(p)
	all := map[string]string{}
	for _, v := range values {
		all[v.Field.Name] = v.JSON
	}
	return all, err
}

// A Reached holds what each run had spent when it first reached a value; nil means that the run
// never reached the value.
type Reached struct {
	Value float64 `json:"value"`
	A     *Sample `json:"a"`
	B     *Sample `json:"b"`
}

// Reached compares the costs of two runs at equal values: at some values between the worse first
// value and the worse of the two best values, and at both best values.
func (c *Comparison) Reached() (list []Reached) {
	better := c.better
	start, weak, best := c.a.At[0].Value, c.best(c.a), c.best(c.b)
	if better(start, c.b.At[0].Value) {
		start = c.b.At[0].Value
	}
	if better(weak, best) {
		weak, best = best, weak
	}
	values := []float64{}
	for _, part := range []float64{0.5, 0.8, 0.95} {
		values = append(values, start+part*(weak-start))
	}
	for _, v := range slices.Compact(append(values, weak, best)) {
		list = append(list, Reached{v, c.first(c.a, v), c.first(c.b, v)})
	}
	return list
}

func (c *Comparison) better(x, y float64) bool {
	if c.Rises {
		return x > y
	}
	return x < y
}

// best is the best value of a series.
func (c *Comparison) best(s Series) float64 {
	best := s.At[0].Value
	for _, a := range s.At {
		if c.better(a.Value, best) {
			best = a.Value
		}
	}
	return best
}

// first is the first sample that is as good as a value.
func (c *Comparison) first(s Series, v float64) *Sample {
	for i := range s.At {
		if !c.better(v, s.At[i].Value) {
			return &s.At[i]
		}
	}
	return nil
}

// An Equal holds the values of both runs after equal costs.
type Equal struct {
	Of    string  `json:"of"` // what costs
	Spent float64 `json:"spent"`
	A     float64 `json:"a"`
	B     float64 `json:"b"`
}

// Equal compares values at equal rounds, queries and bytes of a device: at a quarter, a half and
// all of the cheaper run's cost. A run's value at a cost is the last value measured before the run
// had spent more.
func (c *Comparison) Equal() (list []Equal) {
	for _, x := range axes {
		end := math.Min(x.of(c.a.At[len(c.a.At)-1]), x.of(c.b.At[len(c.b.At)-1]))
		for _, part := range []float64{0.25, 0.5, 1} {
			spent := part * end
			e := Equal{x.Name, math.Round(spent), at(c.a, x, spent), at(c.b, x, spent)}
			if !math.IsNaN(e.A) && !math.IsNaN(e.B) {
				list = append(list, e)
			}
		}
	}
	return list
}

// at is the last value of a series at or before the position end on an axis, or NaN if there is no
// such value.
func at(s Series, x axis, end float64) float64 {
	value := math.NaN()
	for _, a := range s.At {
		if x.of(a) <= end {
			value = a.Value
		}
	}
	return value
}
