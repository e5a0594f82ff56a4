package wire

import (
	"cmp"
	"math"
)

// A Plan is everything that the parties of a run agree on before it starts; it is record
// 1. Its fields are orthogonal: a method is a combination of values, and package preset
// has those of the papers.
//
// In files a plan is a flat JSON object keyed by the field names of [Fields]. Missing
// fields are zero; each field says what zero means.
type Plan struct {
	Run    string // name of the run, one token of its subjects
	Preset string // preset that the plan was made from, for people
	Scheme uint32 // version of the direction generator: prng.Scheme
	RunKey Bytes  // 32 bytes from which all directions derive; empty: the app's secret

	// KeyCheck verifies an app's secret run key, see [KeyCheck]. It is empty if and
	// only if RunKey is public.
	KeyCheck Bytes
	// KeyScheme is 1 if keys derive from the secret, see [Plan.DerivesKeys], else 0.
	KeyScheme uint8

	// Model.
	Dim           uint64    // d, number of parameters
	Segments      []Segment // partition of the parameters; none: a single segment
	Initial       Initial   // where the initial parameters come from
	InitialDigest Bytes     // with Given: the 32-byte digest of the initial state

	// Estimator.
	Sharing       Sharing
	Distribution  Distribution
	Difference    Difference
	Mu            float32 // probe distance, absolute, in parameter units
	MuAuto        uint8   // 1: with Mu = 0 the devices find it before the next round
	Steps         uint32  // K, local steps a round
	Perturbations uint32  // P, directions a step
	Estimator     Estimator
	SubspaceMoves uint32  // tau, for Subspace: moves that span the subspace
	SubspaceShare float32 // alpha, for Subspace: share of the variance in the subspace
	Pool          uint32  // number of fixed directions to draw from; 0: no pool
	Rebase        uint32  // for Pool: rounds until x is recomputed from its coefficients

	// Surrogate. Lengths are in the coordinates of Boxes.
	Features      uint32 // M, random Fourier features
	Kernel        Kernel
	LengthScale   float32 // l
	LengthFit     uint8   // 1: a device's process fits l at each step, see package surrogate
	Prior         uint8   // 0: a process has the mean of the window's losses; 1: it has mean 0
	Noise         float32 // sigma^2 of a loss, where losses are scaled to a variance of 1
	Window        uint32  // n, losses that a device's surrogate uses
	WindowOf      WindowOf
	Active        uint32  // queries around each local iterate, beside the one at it
	Around        uint32  // queries around a round's x, beside the one at it
	Candidates    uint32  // points from which the most uncertain are queried
	Radius        float32 // half the side of the cube from which candidates are drawn
	Correction    Correction
	CorrectionAt  CorrectionAt
	Heterogeneity float32 // G, for CorrectionTheory

	// Boxes bound the parameters: one box for each segment, or one for all; none: no
	// bounds. Within a box local steps, Mu and Radius are in its coordinates, 0 at Low
	// and 1 at High. The loss is never evaluated outside the box.
	Boxes []Box

	// Groups, for GroupDirections.
	Groups    uint8  // how they are chosen, see package wire/grouping
	GroupSize uint32 // devices of a group
	Regroup   uint32 // rounds for which groups are kept
	Classes   uint32 // classes whose scalars devices send apart, see package wire/byclass; 0: none

	// Update.
	Rule                 Rule
	Beta                 float32 // momentum factor in [0, 1)
	Beta2                float32 // for LocalAdam
	Epsilon              float32 // for LocalAdam, added to the root
	WeightDecay          float32 // v += decay * x before the rule; 0: none
	Prox                 float32 // gamma: v += gamma (x_k - x_0); 0: none
	Control              Control
	StepSize             float32 // eta
	StepAuto             uint8   // 1: with StepSize = 0 the devices find it after a few rounds
	StepDecay            StepDecay
	StepSchedule         []StepPoint         // factors on eta, from given rounds on
	PerturbationSchedule []PerturbationPoint // P, from given rounds on
	Warmup               uint64              // rounds in which the step grows: r/Warmup
	Horizon              uint64              // rounds of Cosine and Linear; 0: Rounds
	Floor                float32             // share of the step that they leave at the end

	// Server rule, applied once a round.
	ServerRule    ServerRule
	ServerStep    float32 // alpha
	ServerBeta1   float32
	ServerBeta2   float32
	ServerEpsilon float32 // added under the root
	ServerV0      float32 // initial value of v and its maximum
	ServerDecay   float32 // lambda of ServerNormalized

	// Aggregation.
	Transport  Transport
	Precision  Precision // of scalars in frames
	Aggregator Aggregator
	Trim       float32 // for TrimmedMean: share cut off at either end
	Clip       float32 // for ClippedMean: largest length of a device's scalars
	DenseKeep  uint32  // for DenseVectors: records whose vectors are kept
	Weights    Weights
	MaxWeight  uint32  // cap on one device's weight
	MaxScalar  float32 // a larger |g|, or element of a vector, is refused
	LossUnit   float32 // devices divide slopes of the loss by it, with ServerNormalized; 0: by 1

	// What one device can do, see package coordinator. Replicas need none of these: a record has
	// what is left.
	Bound      float32 // contributions are cut to so many median lengths; 0: they are not
	ClaimBound float32 // claimed samples are cut to so many medians; 0: they are not
	Trust      uint32  // rounds over which devices must agree with the others; 0: they need not
	// Roots are ids of devices that the operator vouches for: with Trust the others must agree with
	// them. Empty: none.
	Roots []string

	// Differential privacy of a device, see packages dp and noise. A record has what is left.
	DPClip  float32 // C, L2 norm to which a device's scalars of a round are cut; 0: no privacy
	DPNoise float32 // sigma: the noise's standard deviation is sigma*C
	DPBy    uint8   // who adds it, see package noise
	DPOf    uint8   // whose noise it is, see package noise
	DPDelta float32 // delta, for which epsilon is reported

	// Secure aggregation of a round's scalars, see package masked. A record has their mean.
	Secure      uint8   // 1: the coordinator learns the sum alone
	SecureRange float32 // scalars are cut to plus and minus this; 0: see package masked
	SecureLists uint8   // 1: devices agree on the lists of who takes part, before they unmask a sum

	// Rounds.
	Roster      Roster
	Cohort      uint8   // 1: the second phase of a round asks the devices of its first, see Draw
	Members     uint32  // round 1 waits until so many devices have joined
	Target      uint32  // contributors that close a round early
	OverSample  float32 // devices asked = Target * OverSample, in thousandths
	Quorum      uint32  // contributors that a closing round needs
	Deadline    uint32  // longest time of an attempt, in milliseconds
	MaxAttempts uint32  // attempts of a record before the run pauses
	Reannounce  uint32  // milliseconds between announcements of one attempt
	Shards      uint32  // number of announcement subjects

	// AnnounceBudget is the bytes of records, beyond the last, that a repeated
	// announcement may carry, within MaxFrame.
	AnnounceBudget uint32

	// Late work: contributions to records that were closed without them.
	Late       uint32    // rounds for which they still count; 0: never
	Staleness  Staleness // their discount
	StalenessA float32   // a, for StalePolynomial and StaleHinge
	StalenessB uint32    // b, for StaleHinge
	Async      uint8     // 1: contributions of any age count towards Target and Quorum

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

	// Diverge pauses the run when the median loss of the devices has risen by Diverge
	// times the first: smoothed by as much, or two rounds in a row by four times as much.
	// 0: never.
	Diverge float32
}

// A Segment is a run of consecutive parameters, such as a layer's weights.
type Segment struct {
	Name      string  `json:"name"`
	Len       uint64  `json:"len"`
	Fill      Fill    `json:"fill,omitempty"`
	Scale     float32 `json:"scale,omitempty"`      // of the fill
	MuScale   float32 `json:"mu_scale,omitempty"`   // factor on Mu; 0 means 1
	StepScale float32 `json:"step_scale,omitempty"` // factor on the step; 0 means 1
}

// A Box is the range of parameters' values.
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

// Layout returns the segments with defaults filled in: one segment of all parameters if
// the plan has none, and scales of 1 for 0.
func (p *Plan) Layout() []Segment {
	segments := p.Segments
	if len(segments) == 0 {
		segments = []Segment{{Name: "all", Len: p.Dim}}
	}
	out := make([]Segment, len(segments))
	for i, s := range segments {
		s.MuScale, s.StepScale = cmp.Or(s.MuScale, 1), cmp.Or(s.StepScale, 1)
		out[i] = s
	}
	return out
}

// MaxPerturbations returns the largest P of the plan and its schedule.
func (p *Plan) MaxPerturbations() uint32 {
	most := p.Perturbations
	for _, point := range p.PerturbationSchedule {
		most = max(most, point.Perturbations)
	}
	return most
}

// TermPrecision returns the precision of the scalars in records. It is that of contributions, but
// where groups have scalars of few bits: there a record has means that no device sent, as halves,
// because few bits would add their error a second time.
func (p *Plan) TermPrecision() Precision {
	if p.Sharing == GroupDirections && p.Precision.Quantized() {
		return Half
	}
	return p.Precision
}

// Sampled returns how many of members devices the first attempt of a record asks:
// Target times OverSample, which is rounded to thousandths, rounded up. Each later
// attempt asks twice as many.
func (p *Plan) Sampled(members uint32) uint32 {
	return uint32(min(p.Asked(), uint64(members)))
}

// Asked returns Target times OverSample, rounded up. The factor is first rounded to
// thousandths: 1.2 is not a float32, yet 10 devices at 1.2 must be 12.
func (p *Plan) Asked() uint64 {
	thousandths := uint64(math.Round(1000 * float64(max(p.OverSample, 1))))
	return (uint64(p.Target)*thousandths + 999) / 1000
}
