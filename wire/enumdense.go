package wire

import "github.com/zofl/zofl/wire/internal/codec"

// Estimator is how a device estimates the gradient of its loss.
type Estimator uint8

const (
	// Differences: finite differences along directions.
	Differences Estimator = 0
	// Surrogate: a Gaussian process is fitted to the losses measured so far; the
	// estimate is the gradient of its posterior mean, corrected by the surrogates of
	// all devices. FZooS, algorithm 2. A round has two phases: x, then w.
	Surrogate Estimator = 1
)

// Kernel is a surrogate's covariance of the losses at two points at distance r.
type Kernel uint8

const (
	// SquaredExponential: exp(-r^2 / (2 l^2)); FZooS, appendix D.
	SquaredExponential Kernel = 0
	// Matern: (1 + s + s^2/3) exp(-s), s = sqrt(5) r / l. FZooS's published code uses
	// it, and fits l each time, see Plan.LengthFit. The random features remain those of
	// SquaredExponential.
	Matern Kernel = 1
)

// WindowOf says which losses a surrogate uses.
type WindowOf uint8

const (
	// Latest: the last Plan.Window losses.
	Latest WindowOf = 0
	// NearestPoints: of the last 4*Plan.Window losses, the Plan.Window whose points are
	// nearest to where the gradient is evaluated, as in FZooS's published code. Each
	// step fits again.
	NearestPoints WindowOf = 1
)

// Correction is gamma in FZooS (5), the factor on the correction that local step t,
// counted from 1, adds.
type Correction uint8

const (
	// CorrectionInverse: 1/t; FZooS, appendix G.
	CorrectionInverse Correction = 0
	// CorrectionOne: 1, as SCAFFOLD has it.
	CorrectionOne Correction = 1
	// CorrectionZero: none.
	CorrectionZero Correction = 2
	// CorrectionTheory: corollary E.1, where G is Plan.Heterogeneity.
	CorrectionTheory Correction = 3
)

// CorrectionAt is where the gradients of the correction in FZooS (5) are evaluated.
type CorrectionAt uint8

const (
	// AtIterate: at the local iterate; the adaptive vector of FZooS.
	AtIterate CorrectionAt = 0
	// AtRound: at the round's first point, as SCAFFOLD does.
	AtRound CorrectionAt = 1
)

var (
	estimatorNames    = []string{"differences", "surrogate"}
	kernelNames       = []string{"squared-exponential", "matern"}
	windowOfNames     = []string{"latest", "nearest"}
	correctionNames   = []string{"inverse", "one", "zero", "theory"}
	correctionAtNames = []string{"iterate", "round"}
)

func (v Estimator) String() string    { return codec.Name(estimatorNames, int(v)) }
func (v Kernel) String() string       { return codec.Name(kernelNames, int(v)) }
func (v WindowOf) String() string     { return codec.Name(windowOfNames, int(v)) }
func (v Correction) String() string   { return codec.Name(correctionNames, int(v)) }
func (v CorrectionAt) String() string { return codec.Name(correctionAtNames, int(v)) }
