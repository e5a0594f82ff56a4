package blackbox

import (
	"encoding/binary"
	"math"

	"github.com/zofl/zofl/papers/tables"
)

// standardized splits the rows of a table at random into halves. Each feature is standardized by
// its mean and standard deviation in the table. standardized splits a table the same way in every
// call.
func standardized(t *tables.Table) (half, rest *tables.Table) {
	mean, deviation := moments(t)
	order := stream(1, forSplit).Perm(t.Len())
	part := func(list []int) *tables.Table {
		m := &tables.Table{Features: t.Features, Classes: t.Classes}
		for _, at := range list {
			m.Labels = append(m.Labels, t.Labels[at])
			for f, v := range t.At(at) {
				m.Values = append(m.Values, float32((float64(v)-mean[f])/deviation[f]))
			}
		}
		return m
	}
	return part(order[:len(order)/2]), part(order[len(order)/2:])
}

// moments returns each feature's mean and standard deviation. For a constant feature, moments
// returns a standard deviation of 1.
func moments(t *tables.Table) (mean, deviation []float64) {
	mean, deviation = make([]float64, t.Features), make([]float64, t.Features)
	n := float64(t.Len())
	for i := range t.Len() {
		for f, v := range t.At(i) {
			mean[f] += float64(v) / n
		}
	}
	for i := range t.Len() {
		for f, v := range t.At(i) {
			d := float64(v) - mean[f]
			deviation[f] += float64(d*d) / n
		}
	}
	for f, v := range deviation {
		if deviation[f] = math.Sqrt(v); v < 1e-12 {
			deviation[f] = 1
		}
	}
	return mean, deviation
}

// floatBytes returns the bytes of values, for a fingerprint.
func floatBytes(values []float32) []byte {
	b := make([]byte, 0, 4*len(values))
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}
