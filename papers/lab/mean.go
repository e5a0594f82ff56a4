package lab

import (
	"fmt"
	"math"
	"slices"
)

// AboveMinimum names the metric F(x) - F* of a problem whose minimum F* is known.
const AboveMinimum = "F - F*"

// Each returns the results of calling a function with each element of list.
func Each[T, U any](list []T, of func(T) U) []U {
	out := make([]U, len(list))
	for i, v := range list {
		out[i] = of(v)
	}
	return out
}

// Mean returns the mean of values, or NaN if there are no values.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Spread formats values as their mean and range.
func Spread(values []float64) string {
	switch len(values) {
	case 0:
		return "nothing"
	case 1:
		return fmt.Sprintf("%.4f", values[0])
	}
	return fmt.Sprintf("%.4f [%.4f-%.4f]", Mean(values), slices.Min(values), slices.Max(values))
}

// SpreadError writes values as their mean and its standard error.
func SpreadError(values []float64) string {
	if len(values) < 2 {
		return Spread(values)
	}
	m, squares := Mean(values), 0.0
	for _, v := range values {
		squares += (v - m) * (v - m)
	}
	n := float64(len(values))
	return fmt.Sprintf("%.4f+-%.4f", m, math.Sqrt(squares/(n-1)/n))
}
