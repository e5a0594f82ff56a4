package mathx

import "slices"

const noValues = "mathx: MedianOf no values"

// MedianOf returns the middle one of the values, which are finite, or the mean of
// the two in the middle, and sorts them.
//
//	slices.Sort(values)
//	a, b := values[(n-1)/2], values[n/2]
//	m := float32((float64(a) + float64(b)) / 2)
//
// A result of zero is +0, so that it does not depend on the order of the values:
// -0 and +0 are equal, and which of them comes first is not specified. Nothing
// overflows. It panics if there are no values.
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
