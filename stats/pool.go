package stats

import (
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/plan"
)

// An Outlier is an answer of which columns do not count.
type Outlier struct {
	Answer int // its index
	Why    string
}

// usualOutlier and strictOutlier are how far the values of a device may be from the median of the
// devices' means, in the median of such distances. Honest devices of five or more hardly ever reach
// the first. A plan with liars says that some devices lie, and then the second holds.
const (
	usualOutlier  = 1000
	strictOutlier = 8
	fewest        = 5 // devices among which one can stand out
)

// Pool returns the statistics of all devices' rows together. With a Bound in the plan, a column of
// a device that is far from that of all others does not count. With weights=samples no device
// counts for more rows than ClaimBound allows.
func Pool(p *plan.Plan, answers [][]plan.Column) (columns []plan.Column, out []Outlier) {
	far := usualOutlier
	if p.Liars > 0 {
		far = strictOutlier
	}
	for i := range p.Columns {
		var each []*moments
		for _, a := range answers {
			each = append(each, momentsOf(&a[i]))
		}
		if p.Weights == plan.BySamples && p.ClaimBound > 0 {
			limit(each, float64(p.ClaimBound))
		}
		left := make([]bool, len(each))
		if p.Bound > 0 && len(each) >= fewest {
			left = outliers(each, float64(far))
		}
		var pooled moments
		for k, m := range each {
			if left[k] {
				out = note(out, k, int(i))
				continue
			}
			pooled.merge(m)
		}
		columns = append(columns, pooled.column())
	}
	return columns, out
}

// note adds a column to the outliers, once for each answer.
func note(out []Outlier, answer, column int) []Outlier {
	if slices.ContainsFunc(out, func(o Outlier) bool { return o.Answer == answer }) {
		return out
	}
	return append(out, Outlier{answer, fmt.Sprintf("column %d of its data is far from that of all "+
		"others, in another unit or false, and is left out of the statistics", column)})
}

// outliers says which values are far from the median of the means, in the median of such distances.
func outliers(each []*moments, far float64) []bool {
	var means, distances []float64
	for _, m := range each {
		if m.count > 0 {
			means = append(means, m.mean)
		}
	}
	left := make([]bool, len(each))
	if len(means) < fewest {
		return left
	}
	center := median(means)
	distance := func(m *moments) float64 {
		return math.Hypot(m.mean-center, math.Sqrt(m.squares/float64(m.count)))
	}
	for _, m := range each {
		if m.count > 0 {
			distances = append(distances, distance(m))
		}
	}
	usual := median(distances)
	for i, m := range each {
		left[i] = m.count > 0 && usual > 0 && distance(m) > far*usual
	}
	return left
}

// limit lets no device count for more than bound times the median number of values.
func limit(each []*moments, bound float64) {
	var claims []float64
	for _, m := range each {
		claims = append(claims, float64(m.count))
	}
	most := uint64(bound * median(claims))
	for _, m := range each {
		if m.count > most && most > 0 {
			m.squares *= float64(most) / float64(m.count)
			m.count = most
		}
	}
}

// median returns the lower middle value.
func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[(len(v)-1)/2]
}
