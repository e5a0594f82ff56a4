package plan

import "github.com/zofl/zofl/internal/codec"

// Covariance is what [ServerCMA] learns of the loss's shape, to draw its candidates.
type Covariance uint8

const (
	// FullCovariance: a matrix of d rows. MA-ES, Beyer and Sendhoff 2017, with the negative weights
	// of CMA-ES, Hansen 2016.
	FullCovariance Covariance = 0
	// LimitedCovariance: as many rows as [Candidates] returns. LM-MA-ES, Loshchilov, Glasmachers and
	// Beyer 2018.
	LimitedCovariance Covariance = 1
)

// MaxFull is the largest model with [FullCovariance]: a record takes 2 d^2 lambda products.
const MaxFull = 1000

var covarianceNames = []string{"full", "limited"}

func (v Covariance) String() string { return codec.Name(covarianceNames, int(v)) }

// cubeRoot is the cube root of e, the base of the natural logarithm.
const cubeRoot = 1.3956124250860895

// Candidates returns 4 + floor(3 ln dim): how many candidates a round of [ServerCMA] usually has,
// and how many rows [LimitedCovariance] has. It multiplies, because a logarithm may differ between
// machines in its last bit:
//
//	for c := cubeRoot; c <= dim; c *= cubeRoot {
//		n++
//	}
func Candidates(dim uint64) uint32 {
	n := uint32(4)
	for c := cubeRoot; c <= float64(dim); c *= cubeRoot {
		n++
	}
	return n
}

// EvolutionVectors returns the number of vectors of d elements that [ServerCMA] keeps beside x: the
// path, the rows of its covariance, and with boxes x before it is folded into them.
func (p *Plan) EvolutionVectors() int {
	n := 1 + p.CovarianceRows()
	if len(p.Boxes) > 0 {
		n++
	}
	return n
}

// CovarianceRows returns the number of rows of d elements that [ServerCMA] learns.
func (p *Plan) CovarianceRows() int {
	if p.Covariance == LimitedCovariance {
		return int(Candidates(p.Dim))
	}
	return int(min(p.Dim, MaxFull))
}

// MaxCandidates returns the largest number of candidates that a round of [ServerCMA] may have,
// after all restarts.
func (p *Plan) MaxCandidates() uint64 {
	return min(uint64(p.MaxPerturbations())<<p.Restarts, MaxScalars)
}

// MaxGrowth bounds by how much noise raises the number of candidates.
const MaxGrowth = 64
