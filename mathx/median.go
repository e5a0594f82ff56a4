package mathx

import "slices"

const noValues = "mathx: MedianOf no values"

// MedianOf returns the median of the values, which must be finite: the middle value, or the mean of
// the two middle values. MedianOf sorts the slice.
//
//	slices.Sort(values)
//	a, b := values[(n-1)/2], values[n/2]
//	m := float32((float64(a) + float64(b)) / 2)
//
// If the median is zero, MedianOf returns +0. Otherwise the sign of zero would depend on the order
// of the values, because sorting treats -0 and +0 as equal. Nothing overflows. MedianOf panics if
// there are no values.
func MedianOf(values []float32) float32 {
	n := len(values)
	if n == 0 {
		panic(noValues)
	}
	slices.Sort(values)
	a, b := values[(n-1)/2], values[n/2]
	m := float32((float64(a) + float64(b)) / 2)
	if m == 0 {
		return 0
	}
	return m
}
