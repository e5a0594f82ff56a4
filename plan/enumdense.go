package plan

import "github.com/zofl/zofl/internal/codec"

// Estimator is how a device estimates the gradient of its loss.
type Estimator uint8

const (
	// Differences: finite differences along directions.
	Differences Estimator = 0
	// Surrogate: a device fits a Gaussian process to the losses that it has measured. The device's
	// estimate is the gradient of the posterior mean, corrected by the surrogates of all devices.
	// FZooS, algorithm 2. A round has two phases: in phase 1 devices send x, in phase 2 the weights w
	// of their surrogates.
	Surrogate Estimator = 1
)

// Correction is gamma in FZooS (5), the factor on the correction that local step t, counted from 1,
// adds.
type Correction uint8

const (
	// CorrectionInverse: 1/t; FZooS, appendix G.
	CorrectionInverse Correction = 0
	// CorrectionOne: 1, as in SCAFFOLD.
	CorrectionOne Correction = 1
	// CorrectionZero: 0, so that steps have no correction.
	CorrectionZero Correction = 2
	// CorrectionTheory: corollary E.1, where G is Plan.Heterogeneity.
	CorrectionTheory Correction = 3
)

// CorrectionAt is the point at which a device evaluates the gradients of the correction in FZooS
// (5).
type CorrectionAt uint8

const (
	// AtIterate: at the local iterate; the adaptive vector of FZooS.
	AtIterate CorrectionAt = 0
	// AtRound: at the round's first point, as SCAFFOLD does.
	AtRound CorrectionAt = 1
)

var (
	estimatorNames    = []string{"differences", "surrogate"}
	correctionNames   = []string{"inverse", "one", "zero", "theory"}
	correctionAtNames = []string{"iterate", "round"}
)

func (v Estimator) String() string    { return codec.Name(estimatorNames, int(v)) }
func (v Correction) String() string   { return codec.Name(correctionNames, int(v)) }
func (v CorrectionAt) String() string { return codec.Name(correctionAtNames, int(v)) }
