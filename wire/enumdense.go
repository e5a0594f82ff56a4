package wire

// Estimator is how a device learns the slope of its loss.
type Estimator uint8

const (
	// Differences: finite differences along directions.
	Differences Estimator = 0
	// Surrogate: the gradient of the posterior mean of a Gaussian process that knows
	// the losses asked for so far, with a correction by what all devices' say;
	// FZooS, algorithm 2. A round is two phases: x, then w.
	Surrogate Estimator = 1
)

// Kernel is the covariance of a surrogate's loss at points r apart.
type Kernel uint8

const (
	// SquaredExponential: exp(-r^2 / (2 l^2)); FZooS, appendix D.
	SquaredExponential Kernel = 0
	// Matern: (1 + s + s^2/3) exp(-s), s = sqrt(5) r / l; of FZooS's published code,
	// which fits l anew each time. The features stay those of SquaredExponential.
	Matern Kernel = 1
)

// WindowOf says which losses a surrogate knows.
type WindowOf uint8

const (
	// Latest: the last Plan.Window.
	Latest WindowOf = 0
	// NearestPoints: of the last 4 Plan.Window the Plan.Window nearest to where the
	// gradient is asked for; of FZooS's published code. Each step refits.
	NearestPoints WindowOf = 1
)

// Correction is gamma in FZooS (5), the part of the correction that local step t,
// from 1, adds.
type Correction uint8

const (
	// CorrectionInverse: 1/t; FZooS, appendix G.
	CorrectionInverse Correction = 0
	// CorrectionOne: 1, as SCAFFOLD has it.
	CorrectionOne Correction = 1
	// CorrectionZero: none.
	CorrectionZero Correction = 2
	// CorrectionTheory: corollary E.1, G being Plan.Heterogeneity.
	CorrectionTheory Correction = 3
)

// CorrectionAt is where FZooS (5) takes the correction's gradients.
type CorrectionAt uint8

const (
	// AtIterate: at the local iterate; the adaptive vector of FZooS.
	AtIterate CorrectionAt = 0
	// AtRound: at the point where the round began, as SCAFFOLD does.
	AtRound CorrectionAt = 1
)

var (
	estimatorNames    = []string{"differences", "surrogate"}
	kernelNames       = []string{"squared-exponential", "matern"}
	windowOfNames     = []string{"latest", "nearest"}
	correctionNames   = []string{"inverse", "one", "zero", "theory"}
	correctionAtNames = []string{"iterate", "round"}
)

func (v Estimator) String() string    { return enumName(estimatorNames, int(v)) }
func (v Kernel) String() string       { return enumName(kernelNames, int(v)) }
func (v WindowOf) String() string     { return enumName(windowOfNames, int(v)) }
func (v Correction) String() string   { return enumName(correctionNames, int(v)) }
func (v CorrectionAt) String() string { return enumName(correctionAtNames, int(v)) }
