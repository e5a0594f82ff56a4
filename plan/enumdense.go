package plan

import "github.com/zofl/zofl/internal/codec"

// Estimator is how a device estimates the gradient of its loss.
type Estimator uint8

const (
	// Differences: finite differences along directions.
	Differences Estimator = 0
	// Surrogate: a Gaussian process is fitted to the losses measured so far. The estimate is the
	// gradient of its posterior mean, corrected by the surrogates of all devices. FZooS, algorithm 2.
	// A round has two phases: x, then w.
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
	correctionNames   = []string{"inverse", "one", "zero", "theory"}
	correctionAtNames = []string{"iterate", "round"}
)

func (v Estimator) String() string    { return codec.Name(estimatorNames, int(v)) }
func (v Correction) String() string   { return codec.Name(correctionNames, int(v)) }
func (v CorrectionAt) String() string { return codec.Name(correctionAtNames, int(v)) }
