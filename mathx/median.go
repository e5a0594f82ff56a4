package mathx

import "slices"

const noValues = "mathx: MedianOf no values"

// MedianOf returns the median of the values, which must be finite: the middle one, or the
// mean of the two in the middle. It sorts the values.
//
//	slices.Sort(values)
//	a, b := values[(n-1)/2], values[n/2]
//	m := float32((float64(a) + float64(b)) / 2)
//
// A zero result is +0. Otherwise its sign would depend on the order of the values, because sorting
// treats -0 and +0 as equal. Nothing overflows. It panics if there are no values.
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
