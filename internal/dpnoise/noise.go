// Package dpnoise makes scalars differentially private: it cuts a device's scalars to a length,
// puts them on a grid, and adds discrete Gaussian noise from the system's random source.
//
// Noise of floating-point numbers leaks by its last bits (Mironov 2012). So both the scalars and
// the noise are whole multiples of a power of two, and their sum is a sum of whole numbers. The
// noise is drawn exactly, without logarithms (Canonne, Kamath and Steinke 2020). Later steps on the
// sum, such as a division by the number of devices or rounding to half precision, reveal nothing
// more.
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
	// ByDevice: each device cuts its scalars and adds noise, before they leave it.
	ByDevice uint8 = 0
	// ByCoordinator: the coordinator cuts each device's scalars, and adds noise once to their sum.
	ByCoordinator uint8 = 1
)

// Values of Plan.DPOf.
const (
	// OfDevice: sigma describes the noise that a device adds.
	OfDevice uint8 = 0
	// OfSum: sigma describes the noise in the sum over a quorum, with secure aggregation. Each device
	// adds its share.
	OfSum uint8 = 1
)

// MostNoise is the largest multiplier: more would leave few steps to the scalars.
const MostNoise = 1000

// A Mechanism cuts scalars to the L2 norm C, and adds noise of the standard deviation sigma*C.
type Mechanism struct {
	grid     float64 // a power of two
	clip     float64 // C
	most     uint64  // the largest sum of squares in steps of the grid: floor((C/grid)^2)
	variance uint64  // of the noise in steps of the grid, rounded up
}

// New returns the mechanism of the norm clip = C, which is above 0, and of the multiplier sigma,
// from 0 to MostNoise.
func New(clip, sigma float32) Mechanism {
	// The larger of C and sigma*C takes 2^18 to 2^19 steps. So a scalar with its noise is below 2^24
	// steps, which a float32 holds exactly, up to 32 standard deviations: no larger noise will ever
	// occur.
	_, exponent := math.Frexp(float64(clip) * max(1, float64(sigma)))
	m := Mechanism{grid: math.Ldexp(1, exponent-19), clip: float64(clip)}
	length := m.clip / m.grid // exact: at most 24 bits
	m.most = uint64(length * length)
	deviation := length * float64(sigma) // exact: at most 48 bits
	m.variance = uint64(math.Ceil(deviation * deviation * (1 + 1e-15)))
	return m
}

// Share returns the mechanism for each of this many devices, such that their sum has at least the
// noise of m: a variance of (sigma*C)^2 / devices each. A sum of discrete Gaussians is not a
// discrete Gaussian, but the difference is far too small to notice. With a share of s >= 20 steps
// of the grid, which a sum of 4096 devices has if sigma is at least 0.01, the two differ by less
// than 10 * 4096 * exp(-pi^2 s^2) (Kairouz, Liu and Steinke 2021, Theorem 1).
func (m Mechanism) Share(devices uint32) Mechanism {
	n := uint64(max(devices, 1))
	m.variance = (m.variance + n - 1) / n
	return m
}

// Multiplier returns the standard deviation of the noise that a device adds, in units of C. It is
// sigma, or with OfSum its share if at least this many devices are summed.
func Multiplier(sigma float32, of uint8, devices uint32) float64 {
	if of == OfSum {
		return float64(sigma) / math.Sqrt(float64(max(devices, 1)))
	}
	return float64(sigma)
}

// Grid returns the step of the grid.
func (m Mechanism) Grid() float64 { return m.grid }

// Clip puts finite values on the grid, towards zero, and makes their L2 norm at most C. The norm of
// the result, computed exactly, never exceeds C.
func (m Mechanism) Clip(values []float32) {
	factor := 1.0
	if norm := mathx.Norm(values); norm > m.clip {
		factor = m.clip / norm
	}
	for m.length(values, factor) > m.most { // the factor was rounded up
		factor *= 1 - 1e-7
	}
	for i, v := range values {
		values[i] = float32(float64(m.steps(v, factor)) * m.grid)
	}
}

// steps returns v times factor in steps of the grid.
func (m Mechanism) steps(v float32, factor float64) int64 {
	return int64(float64(v) * factor / m.grid)
}

// length returns the sum of squares in steps of the grid.
func (m Mechanism) length(values []float32, factor float64) (sum uint64) {
	for _, v := range values {
		k := m.steps(v, factor)
		sum += uint64(k * k)
	}
	return sum
}

// Noise fills dst with noise: multiples of the grid. random must not fail.
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
