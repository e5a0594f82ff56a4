package wire

import "math"

// A Plan is everything that the parties of a run agree on before it starts:
// record 1. Its fields are orthogonal; a method is a choice of them, and
// package preset names the choices of the papers.
//
// In files a plan is a flat JSON object keyed by the field names of [Fields];
// what is missing keeps its zero, and what zero means stands with each field.
type Plan struct {
	Run    string // name of the run: one token of its subjects, short
	Preset string // preset that it was made from, for people
	Scheme uint32 // of directions: prng.Scheme
	RunKey Bytes  // 32 bytes that all directions derive from; empty: the app's secret

	// KeyCheck tells whether an app's secret run key is the run's: see
	// [KeyCheck]. Empty if and only if RunKey is public.
	KeyCheck Bytes

	// Model.
	Dim           uint64    // d, number of parameters
	Segments      []Segment // partition of the parameters; none: one of all
	Initial       Initial   // where the first parameters come from
	InitialDigest Bytes     // Given: the 32-byte digest of the state that they make

	// Estimator.
	Sharing       Sharing
	Distribution  Distribution
	Difference    Difference
	Mu            float32 // probe distance, absolute, in parameter units
	Steps         uint32  // K, local steps a round
	Perturbations uint32  // P, directions a step
	Estimator     Estimator
	SubspaceMoves uint32  // tau, of Subspace: moves that span it
	SubspaceShare float32 // alpha, of Subspace: part of the variance that is in it
	Pool          uint32  // directions are of so many fixed ones; 0: all differ
	Rebase        uint32  // of Pool: rounds until x is computed anew from its coefficients

	// Surrogate. Lengths are in the coordinates of Boxes.
	Features      uint32 // M, random Fourier features
	Kernel        Kernel
	LengthScale   float32 // l
	Noise         float32 // sigma^2 of a loss, of losses scaled to a variance of 1
	Window        uint32  // n, losses that a device's surrogate knows
	WindowOf      WindowOf
	Active        uint32  // queries around each local iterate, beside the one at it
	Around        uint32  // queries around a round's x, beside the one at it
	Candidates    uint32  // points of which those queries are the most uncertain
	Radius        float32 // half the side of the cube that candidates are of
	Correction    Correction
	CorrectionAt  CorrectionAt
	Heterogeneity float32 // G, of CorrectionTheory

	// Boxes bound the parameters: one for each segment, or one for all; none: no
	// bounds. Within a box local steps, Mu and Radius are in its coordinates, 0 at
	// Low and 1 at High, and no loss is asked for outside of it.
	Boxes []Box

	// Update.
	Rule                 Rule
	Beta                 float32 // momentum factor in [0, 1)
	Beta2                float32 // of LocalAdam
	Epsilon              float32 // of LocalAdam, beside the root
	WeightDecay          float32 // v += decay * x before the rule; 0 is none
	Prox                 float32 // gamma: v += gamma (x_k - x_0); 0 is none
	Control              Control
	Step                 float32 // eta
	StepDecay            StepDecay
	StepSchedule         []StepPoint         // factors on eta from rounds on
	PerturbationSchedule []PerturbationPoint // P from rounds on

	// Server rule, once a round.
	ServerRule    ServerRule
	ServerStep    float32 // alpha
	ServerBeta1   float32
	ServerBeta2   float32
	ServerEpsilon float32 // under the root
	ServerV0      float32 // what v and its maximum begin with

	// Aggregation.
	Transport  Transport
	Precision  Precision // of scalars that travel
	Aggregator Aggregator
	Trim       float32 // of TrimmedMean: part cut off at either end
	Clip       float32 // of ClippedMean: largest length of a device's scalars
	DenseKeep  uint32  // of DenseVectors: records whose vectors are kept
	Weights    Weights
	MaxWeight  uint32  // cap on one device's weight
	MaxScalar  float32 // larger |g| are refused, and larger elements of vectors

	// Rounds.
	Roster         Roster
	Members        uint32  // round 1 waits for so many joined devices
	Target         uint32  // contributors that close a round early
	OverSample     float32 // devices asked = Target * OverSample, in thousandths
	Quorum         uint32  // contributors that a closing round needs
	Deadline       uint32  // milliseconds an attempt lasts at most
	MaxAttempts    uint32  // then the run pauses
	Reannounce     uint32  // milliseconds between announcements of one attempt
	AnnounceBudget uint32  // bytes of records in a repeated announcement, beyond the last, within MaxFrame
	Shards         uint32  // announcement subjects

	// Work.
	Batch       uint32   // samples a minibatch; 0: all of a device's data
	EvalEvery   uint32   // evaluate after records n = 0 mod EvalEvery; 0: never
	EvalCount   uint32   // devices that evaluate
	Metrics     []string // what an evaluation returns, in order
	DigestEvery uint32   // devices report digests after n = 0 mod DigestEvery; 0: never

	// Stop.
	Rounds     uint64 // 0: no limit
	StopMetric string // one of Metrics; empty: none
	StopWhen   StopWhen
	StopValue  float32
	Diverge    float32 // times the first loss that the loss may grow, as the coordinator smooths it; 0: never
}

// A Segment is a run of consecutive parameters, such as a layer's weights.
type Segment struct {
	Name      string  `json:"name"`
	Len       uint64  `json:"len"`
	Fill      Fill    `json:"fill,omitempty"`
	Scale     float32 `json:"scale,omitempty"`      // of the fill
	MuScale   float32 `json:"mu_scale,omitempty"`   // factor on Mu; 0 is 1
	StepScale float32 `json:"step_scale,omitempty"` // factor on the step; 0 is 1
}

// A Box is the range of parameters.
type Box struct {
	Low  float32 `json:"low"`
	High float32 `json:"high"`
}

// A StepPoint multiplies the step size by Factor from round Round on, until
// the next point.
type StepPoint struct {
	Round  uint64  `json:"round"`
	Factor float32 `json:"factor"`
}

// A PerturbationPoint sets P from round Round on, until the next point.
type PerturbationPoint struct {
	Round         uint64 `json:"round"`
	Perturbations uint32 `json:"perturbations"`
}

// Layout returns the segments with every default in place: one covering all
// parameters where the plan has none, and scales of 1 for 0.
func (p *Plan) Layout() []Segment {
	segments := p.Segments
	if len(segments) == 0 {
		segments = []Segment{{Name: "all", Len: p.Dim}}
	}
	out := make([]Segment, len(segments))
	for i, s := range segments {
		s.MuScale = orOne(s.MuScale)
		s.StepScale = orOne(s.StepScale)
		out[i] = s
	}
	return out
}

func orOne(v float32) float32 {
	if v == 0 {
		return 1
	}
	return v
}

// MaxPerturbations returns the largest P of the plan and its schedule.
func (p *Plan) MaxPerturbations() uint32 {
	most := p.Perturbations
	for _, point := range p.PerturbationSchedule {
		most = max(most, point.Perturbations)
	}
	return most
}

// Sampled returns how many of members devices the first attempt of a record
// asks: Target times OverSample, which counts in thousandths, rounded up. Each
// later attempt asks twice as many.
func (p *Plan) Sampled(members uint32) uint32 {
	return uint32(min(p.asked(), uint64(members)))
}

// asked is Target times OverSample, rounded up. The factor is rounded to
// thousandths first: 1.2 is not a float32, and 10 devices at 1.2 are 12.
func (p *Plan) asked() uint64 {
	thousandths := uint64(math.Round(1000 * float64(max(p.OverSample, 1))))
	return (uint64(p.Target)*thousandths + 999) / 1000
}
