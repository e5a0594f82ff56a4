package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/zofl/zofl/plan/internal/schedule"
)

// StepSizeAt returns eta of a round, counted from 1: StepSize, decayed by StepDecay. Only the
// coordinator calls StepSizeAt; the record holds the result. If [Plan.FactorAt] applies the decay,
// StepSizeAt does not.
func (p *Plan) StepSizeAt(round uint64) float32 {
	eta := float64(p.StepSize)
	if p.StepDecay == InverseSqrt {
		eta /= math.Sqrt(float64(max(round, 1)))
	}
	if !p.ServerRule.Steps() {
		eta *= p.share(round)
	}
	return float32(eta)
}

// FactorAt returns the factor on ServerStep of a round, counted from 1: 1, unless
// [ServerRule.Steps] is true for the plan's rule. With such a rule ServerStep sets the length of a
// round's move, so StepDecay from [Cosine] on applies to ServerStep. Only the coordinator calls
// FactorAt; the record holds the result.
func (p *Plan) FactorAt(round uint64) float32 {
	if !p.ServerRule.Steps() {
		return 1
	}
	return float32(p.share(round))
}

// share returns the factor by which StepDecay, from Cosine on, reduces a step size.
func (p *Plan) share(round uint64) float64 {
	switch p.StepDecay {
	case Cosine:
		return schedule.Cosine(round, p.Rounds, p.Floor)
	case SlowSqrt:
		return schedule.SlowSqrt(round)
	}
	return 1
}

// PerturbationsAt returns P of a round, counted from 1.
func (p *Plan) PerturbationsAt(round uint64) uint32 {
	n := p.Perturbations
	for _, s := range p.PerturbationSchedule {
		if s.Round <= round {
			n = s.Perturbations
		}
	}
	return n
}

// BatchSeed returns the seed of the minibatch of a device's local step for record n: the first 8
// bytes, little-endian, of SHA-256("zofl/1 batch\x00" + run + "\x00" + id + "\x00" + LE64(n) +
// LE32(step)). The seed is the same for all perturbations of the step and for both sides of a
// difference.
func BatchSeed(run, id string, n uint64, step uint32) uint64 {
	const longest = len("zofl/1 batch\x00") + 2*(MaxName+1) + 8 + 4
	b := append(make([]byte, 0, longest), "zofl/1 batch\x00"...)
	b = append(append(b, run...), 0)
	b = append(append(b, id...), 0)
	b = binary.LittleEndian.AppendUint64(b, n)
	b = binary.LittleEndian.AppendUint32(b, step)
	sum := sha256.Sum256(b)
	return binary.LittleEndian.Uint64(sum[:])
}

// Draw returns the record number that seeds the random draw of record n's cohorts: n itself, with
// one exception. With Cohort = 1, if record n is the second phase of a round, Draw returns point,
// the record of the first phase. So attempt a of the second phase asks the same devices as attempt
// a of the first phase, unless the number of members, or of devices to sample, has changed.
func (p *Plan) Draw(n, point uint64) uint64 {
	if p.Cohort > 0 && point > 0 {
		return point
	}
	return n
}
