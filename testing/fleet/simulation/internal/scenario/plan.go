package scenario

import (
	"fmt"
	"math/rand/v2"

	"github.com/zofl/zofl/internal/dpnoise"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire/secagg"
)

// drawPlan draws the plan.
func (s *Scenario) drawPlan(rng *rand.Rand) error {
	p, err := preset.Unbound("decomfl", RunName, uint64(3+rng.IntN(7)))
	if err != nil {
		return err
	}
	for i := range p.RunKey {
		p.RunKey[i] = byte(rng.Uint32())
	}
	p.Mu, p.StepSize, p.Diverge, p.Batch = Mu, 1e-7, 0, 0
	p.Steps, p.Perturbations = 1, 1
	if rng.IntN(3) == 0 {
		p.Steps, p.Perturbations = uint32(1+rng.IntN(2)), uint32(1+rng.IntN(3))
	}
	p.Difference = Pick(rng, plan.Forward, plan.Forward, plan.Central)
	if p.Rule = Pick(rng, plan.SGD, plan.Momentum, plan.TorchMomentum); p.Rule != plan.SGD {
		p.Beta = 0.5
	}
	if rng.IntN(4) == 0 {
		p.Roster = plan.OpenRoster
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
		s.Steps, p.Rounds = 4*s.Steps, 4*p.Rounds
	}
	s.drawLate(p, rng)
	if p.Transport == plan.Relay && p.Precision == plan.Half && p.Late == 0 && p.Rounds%2 == 0 {
		p.Precision = plan.Int8 + plan.Precision(p.RunKey[2]%3)
	}
	if p.Estimator == plan.Differences && rng.IntN(3) == 0 {
		p.MuAuto, p.Mu = 1, 0
	} else {
		drawStep(p, rng)
	}
	normalize(p)
	s.drawGroups(p, rng)
	s.drawSecure(p, rng)
	s.sum(p)
	s.hide(p)
	s.deceive(p)
	hold(p)
	judge(p)
	s.Plan = p
	if err := plancheck.Validate(p); err != nil {
		return fmt.Errorf("scenario: %w", err)
	}
	return nil
}

// normalize gives the rule normalized to half of the plans that can have that rule; runs with the
// rule have short announcements. normalize draws no random number, so that seeds keep the rest of
// their histories.
func normalize(p *plan.Plan) {
	q := *p
	q.ServerRule, q.ServerBeta1, q.ServerBeta2 = plan.ServerNormalized, 0.9, 0.99
	if p.RunKey[0]%2 == 0 && valid.Plan(&q) == nil {
		*p = q
	}
}

// hold gives half of the plans a bound. With a bound the coordinator holds contributions until
// their round closes. This bound is too large to change a contribution, because the scalars show
// from which devices they come. A bound on the length of contributions makes one of three or more
// count as no more than another: plans of larger rounds have a bound on weights. hold draws no
// random number, so that seeds keep the rest of their histories.
func hold(p *plan.Plan) {
	if p.RunKey[1]%2 > 0 || p.Secure > 0 || p.Late > 0 || p.Transport == plan.DenseVectors {
		return
	}
	q := *p
	if q.Target < 3 {
		q.Bound = 1e6
	} else {
		q.Weights, q.ClaimBound = plan.BySamples, 1e6
	}
	if valid.Plan(&q) == nil {
		*p = q
	}
}

// judge gives a third of the plans a best model, by their metric or by the training loss, and half
// of these a patience. judge draws no random number, so that seeds keep the rest of their
// histories.
func judge(p *plan.Plan) {
	if p.RunKey[5]%3 > 0 {
		return
	}
	q := *p
	if q.Best = plan.TrainingLoss; p.EvalEvery > 0 {
		q.Best = p.Metrics[0]
	}
	if p.RunKey[6]%2 == 0 {
		q.Patience = 3
	}
	if valid.Plan(&q) == nil {
		*p = q
	}
}

// drawMethod draws how the coordinator makes a record of contributions. Half floats have 11 bits:
// enough for the slopes of two devices, unless there are too many devices or the devices have
// weights.
func (s *Scenario) drawMethod(p *plan.Plan, rng *rand.Rand) {
	equal := p.Weights == plan.Equal
	half := equal && s.Devices <= 6 && rng.IntN(2) == 0
	switch rng.IntN(8) {
	case 0:
		p.Sharing, p.Transport, p.Roster = plan.PerClient, plan.Relay, plan.ListedRoster
	case 1:
		p.Control, half = plan.ScaffoldPoint, false
	case 2:
		half = false
		if equal {
			p.Control, p.Roster = plan.ScaffoldMean, plan.ListedRoster
		}
	case 3:
		if half = half && equal; equal {
			p.Aggregator = plan.Median
		}
	default:
		half = false
	}
	if p.Control != plan.NoControl && rng.IntN(2) == 0 {
		p.Steps = 2
	}
	if half {
		p.Precision, p.MaxScalar = plan.Half, 60_000
	}
}

// drawRounds draws the cohort and the deadlines. The run starts without the devices that start
// late.
func (s *Scenario) drawRounds(p *plan.Plan, rng *rand.Rand) {
	present := s.Devices - s.Late
	p.Members = uint32(1 + rng.IntN(present))
	p.Target = p.Members
	p.Quorum = uint32(1 + rng.IntN(int(p.Target)))
	p.OverSample = Pick[float32](rng, 1, 1.2, 1.5)
	p.Deadline = Pick[uint32](rng, 2_000, 10_000, 30_000)
	p.Reannounce = Pick[uint32](rng, 1_000, 5_000)
	p.MaxAttempts = uint32(1 + rng.IntN(3))
	p.AnnounceBudget = Pick[uint32](rng, 0, 512)
	p.Shards = Pick[uint32](rng, 1, 1, 3)
}

// drawWeights gives devices weights, and makes room for the weights between the contributions of
// two devices.
func (s *Scenario) drawWeights(p *plan.Plan, rng *rand.Rand) {
	s.Weights = make([]uint32, s.Devices)
	weighted := s.Devices <= 5 && rng.IntN(3) == 0
	for i := range s.Weights {
		s.Weights[i] = 1
		if weighted {
			s.Weights[i] = uint32(1 + rng.IntN(3))
		}
	}
	if weighted {
		s.Radix, p.Weights = 16, plan.BySamples
	}
}

// drawLate lets rounds count contributions that missed their record, if the plan allows that.
func (s *Scenario) drawLate(p *plan.Plan, rng *rand.Rand) {
	if p.Transport == plan.DenseVectors || p.Control != plan.NoControl ||
		p.Aggregator != plan.WeightedMean || rng.IntN(2) == 0 {
		return
	}
	p.Late = uint32(1 + rng.IntN(4))
	p.Async = uint8(rng.IntN(2))
	rng.IntN(4) // keeps the random numbers that seeds had when drawLate chose a discount here
	s.Slow = max(s.Slow, 0.05)
}

// drawStep makes devices find the step size by a survey, if the plan allows that.
func drawStep(p *plan.Plan, rng *rand.Rand) {
	if p.Transport == plan.DenseVectors || p.Control != plan.NoControl || rng.IntN(3) > 0 {
		return
	}
	p.ServerRule, p.ServerBeta1, p.ServerBeta2 = plan.ServerNormalized, 0.5, 0.75
	p.Steps, p.Rule, p.Beta = 1, plan.SGD, 0
	p.StepAuto, p.StepSize = 1, 0
	p.Rounds = max(p.Rounds, 7)
}

// drawSecure lets the coordinator learn only sums, if the plan allows that.
func (s *Scenario) drawSecure(p *plan.Plan, rng *rand.Rand) {
	q := *p
	q.Secure, q.MaxScalar, q.Bound, q.ClaimBound = 1, 60_000, 0, 0
	q.EvalEvery, q.EvalCount, q.Metrics = 0, 0, nil
	q.Quorum = max(q.Quorum, 3)
	if s.Devices <= 6 && p.Target >= 3 && valid.Plan(&q) == nil && rng.IntN(2) == 0 {
		*p = q
	}
}

// sum makes a sixth of the plans have masked sums: few of the plans that others draw could. sum
// draws no random number, so that other seeds keep their histories.
func (s *Scenario) sum(p *plan.Plan) {
	if s.Devices > 6 || s.Radix != 4 || p.RunKey[4]%6 > 0 {
		return
	}
	q := *p
	q.Secure, q.MaxScalar, q.Bound, q.ClaimBound = 1, 60_000, 0, 0
	q.EvalEvery, q.EvalCount, q.Metrics = 0, 0, nil
	q.Transport, q.Sharing, q.Roster = plan.Mean, plan.SharedDirections, plan.ListedRoster
	q.Groups, q.GroupSize, q.Regroup = 0, 0, 0
	q.Precision, q.Aggregator, q.Control = plan.Single, plan.WeightedMean, plan.NoControl
	q.Late, q.Async = 0, 0
	if q.MuAuto > 0 {
		q.MuAuto, q.Mu = 0, Mu
	}
	if q.StepAuto > 0 {
		q.StepAuto, q.StepSize = 0, 1e-7
	}
	q.Members, q.Target = max(q.Members, 3), max(q.Target, 3)
	q.Quorum = max(q.Quorum, 3)
	if valid.Plan(&q) == nil {
		*p = q
	}
}

// hide makes half of the few devices with masked sums add noise to the sums. The device with the
// largest slope is not cut, and the noise is so small that the slopes show who is in a sum: its
// standard deviation is a 12th of the smallest slope, or less. hide draws no random number, so that
// other seeds keep their histories.
func (s *Scenario) hide(p *plan.Plan) {
	q := *p
	q.DPClip, q.DPNoise, q.DPDelta, q.DPOf = float32(uint(1)<<(s.Devices-1)), 0.01, 1e-5,
		dpnoise.OfSum
	q.Steps, q.Perturbations, q.Precision, q.DigestEvery = 1, 1, plan.Single, 0
	if p.Secure > 0 && s.Devices <= 4 && p.RunKey[3]%2 == 0 && valid.Plan(&q) == nil {
		*p = q
		s.Radix, s.Stored = 2, true // without a store no such device takes part
	}
}

// deceive makes a device lie in half of the masked sums that have a quorum without it and without
// another device. The run must end all the same. deceive draws no random number.
func (s *Scenario) deceive(p *plan.Plan) {
	if p.Secure == 0 || p.RunKey[5]%2 > 0 || s.Devices < 5 || s.Devices-2 < int(p.Quorum) {
		return
	}
	s.Liar = DeviceName(s.Devices - 1)
	s.Lie = []secagg.Step{secagg.StepKeys, secagg.StepShares, secagg.StepUnmask}[p.RunKey[6]%3]
	s.LieOnce = p.RunKey[7]%2 == 0
	s.Core = false // a core could need it
}

// drawGroups makes the devices of a group share directions, in some plans. A mean of more than two
// devices' slopes has more bits than a half float.
func (s *Scenario) drawGroups(p *plan.Plan, rng *rand.Rand) {
	if p.Transport == plan.DenseVectors || p.Control != plan.NoControl || p.Late > 0 ||
		p.Aggregator != plan.WeightedMean || p.Precision != plan.Single || rng.IntN(3) > 0 {
		return
	}
	p.Transport, p.Sharing = plan.Relay, plan.GroupDirections
	p.Groups, p.OverSample = Pick(rng, grouping.Random, grouping.Sketch), 1
	p.Regroup = Pick[uint32](rng, 1, 2, 100)
	most := max(p.Target/2, 1) // two groups, if there can be two
	for p.GroupSize = min(uint32(1+rng.IntN(3)), most); p.Target%p.GroupSize > 0; p.GroupSize-- {
	}
	if p.Roster == plan.OpenRoster {
		p.Groups = grouping.Random
	} else if p.Groups == grouping.Random && p.RunKey[1]%2 == 0 { // draws nothing, like normalize
		p.Groups, p.GroupSize = grouping.Auto, 0
	}
}
