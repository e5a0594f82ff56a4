package dp

import "math"

// renyi is a bound that needs no exact curve. A release has Renyi differential privacy
// (a, a/(2 sigma^2)) for each a > 1 (Mironov 2017, Proposition 7; for the discrete Gaussian
// Canonne, Kamath and Steinke 2020, Theorem 4), the privacy losses of releases add up (Mironov,
// Proposition 1), and
//
//	epsilon = min over a > 1 of  a T/(2 sigma^2) + log((a-1)/a) - (log(delta) + log(a))/(a-1)
//
// with T releases (Canonne, Kamath and Steinke 2020, Proposition 12; Balle et al. 2020, Theorem
// 21).
func renyi(noise float64, releases uint64, delta float64) float64 {
	rho := float64(releases) / (2 * noise * noise)
	// Every order a gives a valid bound, so the search only has to find a small bound. We search over
	// log(a-1), around the order that the conversion without its logarithms would choose.
	middle := math.Log(math.Sqrt(-math.Log(delta) / rho))
	low, high := min(middle, 0)-6, middle+6
	for range 200 {
		third := (high - low) / 3
		if at(rho, low+third, delta) < at(rho, high-third, delta) {
			high -= third
		} else {
			low += third
		}
	}
	return max(0, at(rho, (low+high)/2, delta))
}

// at returns the bound on epsilon for the order 1 + exp(u).
func at(rho, u, delta float64) float64 {
	less := math.Exp(u)
	a := 1 + less
	return a*rho + u - math.Log1p(less) - (math.Log(delta)+math.Log1p(less))/less
}
