// Package dpnoise makes scalars differentially private. A [Mechanism] scales a device's scalars
// down to a maximal L2 norm, rounds them to multiples of a grid, and adds discrete Gaussian noise
// from the system's random source.
//
// If noise is a floating-point number, its last bits reveal information about the scalar (Mironov
// 2012). So both the scalars and the noise are whole multiples of a power of two, and to add them
// is to add whole numbers. The package draws the noise exactly, without logarithms (Canonne, Kamath
// and Steinke 2020). Later operations on the sum, such as a division by the number of devices or
// rounding to half precision, reveal nothing more.
//
// Never draw noise from the run's key: all devices know the key, and could remove the noise.
package dpnoise

import (
	"io"
	"math"

	"github.com/zofl/zofl/mathx"
)

// Values of Plan.DPBy.
const (
	// ByDevice: each device scales its scalars down to the norm C and adds noise, before it sends
	// them.
	ByDevice uint8 = 0
	// ByCoordinator: the coordinator scales each device's scalars down to the norm C, and adds noise
	// once to the sum over devices.
	ByCoordinator uint8 = 1
)

// Values of Plan.DPOf.
const (
	// OfDevice: sigma describes the noise that a device adds.
	OfDevice uint8 = 0
	// OfSum: sigma describes the noise in the sum over a quorum, with secure aggregation. Each device
	// adds a share of that noise.
	OfSum uint8 = 1
)

// MostNoise is the largest multiplier sigma. With more noise, the grid would be too coarse for the
// scalars.
const MostNoise = 1000

// A Mechanism scales scalars down to an L2 norm of at most C, and adds noise of the standard
// deviation sigma*C.
type Mechanism struct {
	grid     float64 // a power of two
	clip     float64 // C
	most     uint64  // the largest sum of squares, in units of grid^2: floor((C/grid)^2)
	variance uint64  // of the noise, in units of grid^2, rounded up
}

// New returns the mechanism of the norm clip = C, which is above 0, and of the multiplier sigma,
// from 0 to MostNoise.
func New(clip, sigma float32) Mechanism {
	// The larger of C and sigma*C is 2^18 to 2^19 steps of the grid. So a scalar with noise of up to
	// 32 standard deviations is below 2^24 steps, and a float32 holds it exactly. Larger noise will
	// never occur.
	_, exponent := math.Frexp(float64(clip) * max(1, float64(sigma)))
	m := Mechanism{grid: math.Ldexp(1, exponent-19), clip: float64(clip)}
	length := m.clip / m.grid // exact: at most 24 bits
	m.most = uint64(length * length)
	deviation := length * float64(sigma) // exact: at most 48 bits
	m.variance = uint64(math.Ceil(deviation * deviation * (1 + 1e-15)))
	return m
}

// spread is the variance, in units of grid^2, that [Continuous] takes from the noise.
const spread = 9

// Continuous returns the multiplier of a continuous Gaussian that hides no more than the noise of
// [New] with the multiplier sigma. It is slightly smaller. Sigma itself would not do: the exact
// curve of a Gaussian is no bound for discrete noise of the same variance (TestCurveOfDiscrete).
//
// Let the noise have a variance of s^2 + t^2 steps, with t^2 = 9. Let y be continuous noise of
// variance s^2 around a whole number. Round y to the whole number k with a probability proportional
// to exp(-(y-k)^2/(2 t^2)). Rounding reveals nothing. The product of both densities shows that k
// has the discrete noise around the same number, but for the sum of that weight over k, which
// depends on y. By Poisson's formula this sum stays within a factor of 1 +- 2 exp(-2 pi^2 t^2),
// which is 1 +- 1e-76. Over all scalars of all rounds the factor stays below 1 + 1e-40.
//
// C is at least 2^18/max(1, sigma) steps.
func Continuous(sigma float64) float64 {
	return sigma * math.Sqrt(max(0, 1-spread*max(1, 1/(sigma*sigma))/(1<<36)))
}

// Share returns the mechanism for each of this many devices, such that their sum has at least the
// noise of m: a variance of (sigma*C)^2 / devices each. A sum of discrete Gaussians is not a
// discrete Gaussian, but the difference is far too small to notice. If the standard deviation s of
// a share is at least 20 steps of the grid, the two distributions differ by less than 10 * 4096 *
// exp(-pi^2 s^2) (Kairouz, Liu and Steinke 2021, Theorem 1). With 4096 devices, s is at least 20 if
// sigma is at least 0.01.
func (m Mechanism) Share(devices uint32) Mechanism {
	n := uint64(max(devices, 1))
	m.variance = (m.variance + n - 1) / n
	return m
}

// Multiplier returns the standard deviation of the noise that a device adds, in units of C. The
// result is sigma. With OfSum it is a device's share of sigma, if the sum is over at least this
// many devices.
func Multiplier(sigma float32, of uint8, devices uint32) float64 {
	if of == OfSum {
		return float64(sigma) / math.Sqrt(float64(max(devices, 1)))
	}
	return float64(sigma)
}

// Grid returns the spacing of the grid.
func (m Mechanism) Grid() float64 { return m.grid }

// Clip scales finite values down so that their L2 norm is at most C, and rounds them towards zero
// to multiples of the grid. The exact norm of the result never exceeds C.
func (m Mechanism) Clip(values []float32) {
	factor := 1.0
	if norm := mathx.Norm(values); norm > m.clip {
		factor = m.clip / norm
	}
	for m.length(values, factor) > m.most { // rounding made the factor too large
		factor *= 1 - 1e-7
	}
	for i, v := range values {
		values[i] = float32(float64(m.steps(v, factor)) * m.grid)
	}
}

// steps returns v times factor as a number of steps of the grid, rounded towards zero.
func (m Mechanism) steps(v float32, factor float64) int64 {
	return int64(float64(v) * factor / m.grid)
}

// length returns the sum of squares of values times factor, in units of grid^2.
func (m Mechanism) length(values []float32, factor float64) (sum uint64) {
	for _, v := range values {
		k := m.steps(v, factor)
		sum += uint64(k * k)
	}
	return sum
}

// Noise fills dst with noise, in multiples of the grid. random must not fail.
func (m Mechanism) Noise(dst []float32, random io.Reader) {
	if m.variance == 0 {
		clear(dst)
		return
	}
	s := source{random: random}
	for i := range dst {
		dst[i] = float32(float64(s.gauss(m.variance)) * m.grid)
	}
}

// Add returns what a device sends: it clips values and adds noise, in whole steps of the grid.
func (m Mechanism) Add(values []float32, random io.Reader) {
	m.Clip(values)
	added := make([]float32, len(values))
	m.Noise(added, random)
	for i, v := range added {
		values[i] = float32(float64(values[i]) + float64(v)) // exact in float64
	}
}
