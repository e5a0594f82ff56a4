package stepsize

import (
	"math"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// The law of the step, for rounds from r = 1 on, n = r-1, with a* the plan's step:
//
//	a_n = 0.2 a* G t_n / sqrt(1 + n/30)
//	t_n = min(1, 3 (R - n)/R)                            R: the plan's rounds; without them t_n = 1
//
// and a_n = 0 until a* is known, after w rounds: step_after of the plan, or 5. With step_after the
// first move is all of a*, to where the loss was least, and later ones begin with 0.4 a*. Over the
// last third of the rounds, t removes the noise that long steps leave in x. From n = w+1 on, G
// corrects a* by the slope of the loss along the averaged move m after a step:
//
//	h = clip(<g, m>/(sqrt(u) |m|) sqrt(b), -1, 1)           b = 1 + d/(19 N)
//	e = 0.8 e + 0.2 h
//	f = 0.95 f + 0.05 h
//	k = the one of e and f that is nearer to 0; 0 if their signs differ
//	c = max(e - 0.05, 0) + min(e, 0)
//	s = max(k - 0.2, 0) + min(k + 0.2, 0)
//	G = clip(G exp(0.05 c + 0.4 s/b^4), 1/64, 64)
//
// g is the round's mean estimate, m the averaged move before the round, u the mean square of the
// round's scalars, N the number of these scalars and d the number of parameters. If the loss still
// falls along m, steps are too short; if the loss rises along m, steps are too long. A slope that
// noise hides changes nothing: otherwise it would shorten the steps of a long run round after
// round. The rate 0.05 is low because h is mostly noise, which makes G vary at random: at 0.1,
// steps became so long in some runs that the model never recovered.
//
// Where the slope keeps one sign for long, s changes G faster: a loss whose parameters have
// different scales needs steps many times as long as the first moves. Moves average 19 rounds of N
// directions. If there are many more parameters than directions, moves are mostly noise, and h says
// little, so b^4 makes s small: without it networks of 10,000 parameters and 100 scalars a round
// diverged. Along the floor of a valley the slope keeps its sign at any step, until x leaves the
// valley and the loss jumps. So s lengthens steps only while the loss makes [progress].
//
// The law computes two means of the devices' slopes, and an e and an f from each mean. Of the two
// e, the value nearer to 0 counts, and 0 if their signs differ; likewise for f. The first mean is
// [Trimmed], so that few devices cannot lengthen or shorten steps. Where devices' data differ, the
// trimmed mean is biased in the same direction round after round, and would change G for as long as
// the run lasts. The second mean is the mean of all slopes. Neither mean has weights, so that one
// device with many samples cannot choose the step. Experiments with weights=samples show no loss
// because of that.
//
// G can be computed from the last step, so a coordinator that takes over continues with the same G.
// It takes e and f from the coordinator before it, because no record holds them. Where devices gave
// up directions of their own, G includes the factor of [runlog.Squares].
const (
	share       = 0.2  // of a*, which is as far as the loss falls
	shortShare  = 0.4  // the same with step_after
	period      = 30   // rounds until the step has fallen by the root of 2
	memory      = 0.8  // of e, and of a loss that is quick
	longMemory  = 0.95 // of f, and of a loss that is slow
	rate        = 0.05 // of G by e
	target      = 0.05 // e beyond which steps are too short
	fast        = 0.4  // of G by s
	sure        = 0.2  // k beyond which steps are surely too short, or too long
	largestGain = 64
)

// A Law is what the coordinator knows about a run's step in addition to the run's log.
type Law struct {
	trimmed, whole trend // of the trimmed mean, and of the mean of all
	progress       progress
}

// A trend holds two moving averages of h.
type trend struct{ e, f float64 }

// follow updates the trend with a round's h, clipped to [-1, 1].
func (t *trend) follow(h float64) {
	h = min(max(h, -1), 1)
	t.e = memory*t.e + (1-memory)*h
	t.f = longMemory*t.f + (1-longMemory)*h
}

// Reset forgets the trends and the progress of the loss.
func (l *Law) Reset() { *l = Law{} }

// A Past describes the last step of a run's log. Step is 0 if the plan's step was changed since.
type Past struct {
	Step   float32
	Round  uint64
	Factor float64 // what multiplies the next step besides, see [runlog.Squares]; 0: nothing
}

// gain returns G of the round that made the last step.
func (p Past) gain(plan *plan.Plan) float64 {
	if !(p.Step > 0) || p.Round == 0 {
		return 1
	}
	g := float64(p.Step) / (shareOf(plan) * float64(plan.StepSize) * fall(plan, p.Round-1))
	return min(max(g, 1.0/largestGain), largestGain)
}

// shareOf returns the share of a* with which steps begin.
func shareOf(p *plan.Plan) float64 {
	if p.StepAfter > 0 {
		return shortShare
	}
	return share
}

// fall returns t_n / sqrt(1 + n/30).
func fall(p *plan.Plan, n uint64) float64 {
	last := 1.0
	if p.Rounds > 0 {
		left := p.Rounds - min(n, p.Rounds-1) // at least 1
		last = min(1, 3*float64(left)/float64(p.Rounds))
	}
	return last / math.Sqrt(1+float64(n)/period)
}

// Next returns the step of a round. losses are the losses of the round's contributions, slopes the
// contributions' slopes along the normalized m, and terms the terms of the record. Next updates the
// trends, and sorts slopes.
func (l *Law) Next(p *plan.Plan, past Past, round uint64, terms []wire.Term, losses []float32,
	slopes []float64) float32 {
	l.progress.follow(losses)
	if p.StepSize == 0 {
		return 0
	}
	n, gain := round-1, past.gain(p)
	switch before := survey.Before(p); {
	case p.StepAfter > 0 && n == before && past.Step == 0:
		return within(p, float64(p.StepSize)*fall(p, n))
	case n <= before:
		return within(p, shareOf(p)*float64(p.StepSize)*gain*fall(p, n))
	case p.StepAfter > 0 && n == before+1:
		gain = 1 // the last step was not a share of a*
	}
	if past.Factor > 0 {
		gain *= past.Factor
	}
	if len(slopes) > 0 {
		scale, b := scaleOf(p, round, terms)
		l.trimmed.follow(Trimmed(slopes) * scale)
		l.whole.follow(mean(slopes) * scale)
		e := nearer(l.trimmed.e, l.whole.e)
		k := nearer(e, nearer(l.trimmed.f, l.whole.f))
		c := max(e-target, 0) + min(e, 0)
		s := min(k+sure, 0)
		if l.progress.made() {
			s += max(k-sure, 0)
		}
		gain *= math.Exp(rate*c + fast*s/math.Pow(b, 4))
	}
	gain = min(max(gain, 1.0/largestGain), largestGain)
	return within(p, shareOf(p)*float64(p.StepSize)*gain*fall(p, n))
}

// within returns a step, or the longest step with which the decay takes at most the share
// [survey.MostDecay] of the model in a round. Devices measure losses along a move without decay,
// so the step that they find says nothing about decay. A decay of more than 2 turns the model
// around, further each round.
func within(p *plan.Plan, step float64) float32 {
	if p.ServerDecay > 0 {
		step = min(step, survey.MostDecay/float64(p.ServerDecay))
	}
	return float32(step)
}

// mean returns the mean of v, which is not empty.
func mean(v []float64) (mean float64) {
	for _, e := range v {
		mean += e / float64(len(v))
	}
	return mean
}

// nearer returns that of two trends which is nearer to 0, or 0 if their signs differ.
func nearer(a, b float64) float64 {
	if a > 0 {
		return max(min(a, b), 0)
	}
	return min(max(a, b), 0)
}

// scaleOf returns the h of a slope of 1 along the normalized m, and b. scale is 0 if all scalars
// are 0.
func scaleOf(p *plan.Plan, round uint64, terms []wire.Term) (scale, b float64) {
	square, count := runlog.MeanSquare(p, round, terms)
	if p.Distribution == plan.Sphere {
		square *= float64(p.Dim)
	}
	if !(square > 0) {
		return 0, 1
	}
	b = 1 + float64(p.Dim)/(19*float64(count))
	return math.Sqrt(b / square), b
}
