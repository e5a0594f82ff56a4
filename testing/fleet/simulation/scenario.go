package simulation

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/plancheck"
	"github.com/zofl/zofl/wire/preset"
)

// runName is the run of every simulation.
const runName = "sim"

// mu is the probe distance: a power of two, so that a loss of mu*v gives a slope of exactly
// v.
const mu = 1.0 / 1024

// A scenario is what a seed draws before anything happens: the parties, the plan, and how
// often things go wrong.
type scenario struct {
	plan         *wire.Plan
	devices      int
	coordinators int
	weights      []uint32 // of the devices
	radix        float64  // device i contributes radix^i, see objective
	late         int      // number of devices that start in the middle of the run
	witness      bool     // a passive replica provides reference digests
	shared       bool     // the log is a server's, not a file
	stored       bool     // devices have disks
	checkpoints  uint64   // records between their checkpoints
	snapshots    uint64   // records between snapshots of the witness; 0: none
	horizon      uint64   // most records that devices replay
	linger       time.Duration
	steps        int // scheduler's steps before everything is healed
	slow         float64
	decline      float64
	piece        int // most bytes of a vector in a frame; 0: the production limit
	uploads      int // most bytes of vectors that have arrived in part; 0: the production limit

	drop, double, delay float64 // probability per message
	logFault            float64 // probability per operation of a shared log
	fault               float64 // probability per step
	faults              []fault // the kinds that this seed has
}

// drawScenario draws the scenario of a seed.
func drawScenario(rng *rand.Rand) (*scenario, error) {
	s := &scenario{
		devices:      3 + rng.IntN(4),
		coordinators: 1,
		radix:        4,
		linger:       -1,
		steps:        60 + rng.IntN(240),
		shared:       rng.IntN(2) == 0,
	}
	if rng.IntN(8) == 0 {
		s.devices = 8
	}
	if s.shared && rng.IntN(3) > 0 {
		s.coordinators = 2
	}
	if rng.IntN(4) == 0 {
		s.linger = 0
	}
	if rng.IntN(3) == 0 {
		s.late = 1 + rng.IntN(2)
	}
	s.stored, s.checkpoints = rng.IntN(4) > 0, pick[uint64](rng, 1, 2, 64)
	s.snapshots, s.horizon = pick[uint64](rng, 0, 2, 3), pick[uint64](rng, 0, 1, 3)
	s.witness = rng.IntN(3) == 0
	s.slow = pick(rng, 0, 0.05, 0.3)
	s.decline = pick(rng, 0, 0, 0.02, 0.1)
	s.drop = pick(rng, 0, 0.02, 0.1, 0.3)
	s.double = pick(rng, 0, 0.02, 0.2)
	s.delay = pick(rng, 0, 0.02, 0.1)
	s.logFault = pick(rng, 0, 0.05, 0.3)
	s.fault = pick(rng, 0.01, 0.03, 0.1)
	for _, f := range faults {
		// Every seed lacks some kinds, so that the others have more effect.
		if rng.IntN(3) > 0 && (f.fits == nil || f.fits(s)) {
			s.faults = append(s.faults, f)
		}
	}
	return s, s.drawPlan(rng)
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// drawPlan draws the plan.
func (s *scenario) drawPlan(rng *rand.Rand) error {
	p, err := preset.Unbound("decomfl", runName, uint64(3+rng.IntN(7)))
	if err != nil {
		return err
	}
	for i := range p.RunKey {
		p.RunKey[i] = byte(rng.Uint32())
	}
	p.Mu, p.StepSize, p.Diverge, p.Batch = mu, 1e-7, 0, 0
	p.Steps, p.Perturbations = 1, 1
	if rng.IntN(3) == 0 {
		p.Steps, p.Perturbations = uint32(1+rng.IntN(2)), uint32(1+rng.IntN(3))
	}
	p.Difference = pick(rng, wire.Forward, wire.Forward, wire.Central)
	if p.Rule = pick(rng, wire.SGD, wire.Momentum, wire.TorchMomentum); p.Rule != wire.SGD {
		p.Beta = 0.5
	}
	if rng.IntN(4) == 0 {
		p.Roster = wire.OpenRoster
	}
	s.drawRounds(p, rng)
	s.drawWeights(p, rng)
	if s.drawMethod(p, rng); rng.IntN(8) == 0 {
		s.drawDense(p, rng)
	}
	p.EvalEvery, p.EvalCount, p.Metrics = uint32(rng.IntN(4)), 1, []string{"m"}
	p.DigestEvery = uint32(rng.IntN(4))
	p.Rounds = uint64(3 + rng.IntN(8))
	if rng.IntN(16) == 0 {
		s.steps, p.Rounds = 4*s.steps, 4*p.Rounds
	}
	s.drawLate(p, rng)
	if p.Transport == wire.Relay && p.Precision == wire.Half && p.Late == 0 && p.Rounds%2 == 0 {
		p.Precision = wire.Int8 + wire.Precision(p.Rounds/2%3)
	}
	if p.Estimator == wire.Differences && rng.IntN(3) == 0 {
		p.MuAuto, p.Mu = 1, 0
	} else {
		drawStep(p, rng)
	}
	normalize(p)
	hold(p)
	s.drawGroups(p, rng)
	s.plan = p
	if err := plancheck.Validate(p); err != nil {
		return fmt.Errorf("scenario: %w", err)
	}
	return nil
}

// normalize gives half of the plans that can have it the rule normalized, whose runs have lean
// announcements. It draws nothing, so that seeds keep the rest of their histories.
func normalize(p *wire.Plan) {
	q := *p
	q.ServerRule, q.ServerBeta1, q.ServerBeta2 = wire.ServerNormalized, 0.9, 0.99
	if p.RunKey[0]%2 == 0 && plancheck.Validate(&q) == nil {
		*p = q
	}
}

// hold gives half of the plans a bound that holds contributions until their round closes and cuts
// none of them, as their scalars say which devices they are of. It draws nothing.
func hold(p *wire.Plan) {
	if p.Bound = 0; p.RunKey[1]%2 == 0 && p.Transport != wire.DenseVectors {
		p.Bound = 1e6
	}
}

// drawMethod draws how contributions become a record. Halves have 11 bits, enough for the
// slopes of two devices unless there are too many devices or they have weights.
func (s *scenario) drawMethod(p *wire.Plan, rng *rand.Rand) {
	equal := p.Weights == wire.Equal
	half := equal && s.devices <= 6 && rng.IntN(2) == 0
	switch rng.IntN(8) {
	case 0:
		p.Sharing, p.Transport, p.Roster = wire.PerClient, wire.Relay, wire.ListedRoster
	case 1:
		p.Control, half = wire.ScaffoldPoint, false
	case 2:
		half = false
		if equal {
			p.Control, p.Roster = wire.ScaffoldMean, wire.ListedRoster
		}
	case 3:
		if half = half && equal; equal {
			p.Aggregator = wire.Median
		}
	default:
		half = false
	}
	if p.Control != wire.NoControl && rng.IntN(2) == 0 {
		p.Steps = 2
	}
	if half {
		p.Precision, p.MaxScalar = wire.Half, 60_000
	}
}

// drawRounds draws the cohort and the deadlines. Devices that start late do not keep the
// run from starting.
func (s *scenario) drawRounds(p *wire.Plan, rng *rand.Rand) {
	present := s.devices - s.late
	p.Members = uint32(1 + rng.IntN(present))
	p.Target = p.Members
	p.Quorum = uint32(1 + rng.IntN(int(p.Target)))
	p.OverSample = pick[float32](rng, 1, 1.2, 1.5)
	p.Deadline = pick[uint32](rng, 2_000, 10_000, 30_000)
	p.Reannounce = pick[uint32](rng, 1_000, 5_000)
	p.MaxAttempts = uint32(1 + rng.IntN(3))
	p.AnnounceBudget = pick[uint32](rng, 0, 512)
	p.Shards = pick[uint32](rng, 1, 1, 3)
}

// drawWeights gives devices weights, and makes room for these between the contributions of
// two devices.
func (s *scenario) drawWeights(p *wire.Plan, rng *rand.Rand) {
	s.weights = make([]uint32, s.devices)
	weighted := s.devices <= 5 && rng.IntN(3) == 0
	for i := range s.weights {
		s.weights[i] = 1
		if weighted {
			s.weights[i] = uint32(1 + rng.IntN(3))
		}
	}
	if weighted {
		s.radix, p.Weights = 16, wire.BySamples
	}
}
