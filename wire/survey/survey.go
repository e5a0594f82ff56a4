// Package survey defines which losses the coordinator asks of a run's devices outside rounds, and
// how frames ask for these losses.
//
// A survey is an attempt at record n that asks for losses instead of the scalars of a round. The
// tail of the survey's announcement names the kind of survey, and so does the tail of each answer.
// Apart from its tail an answer is a contribution to record n with float32 values. After a survey
// the coordinator writes a record that changes the plan.
package survey

import (
	"cmp"
	"math"

	"github.com/zofl/zofl/internal/codec"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/stats"
)

// A Kind says which losses a survey asks for.
type Kind uint8

const (
	// None: a round, not a survey.
	None Kind = 0
	// Step asks for losses along the averaged move, for a plan with step_auto. An answer has
	//
	//	f(x), then f(x - a w) - f(x) for each length a of [Lengths]
	//
	// where w is the move that the rule normalized makes with step 1, m^/sqrt(V^), times the segments'
	// factors on the step.
	Step Kind = 1
	// Mu asks how the loss curves along one direction, for a plan with mu_auto. An answer has
	//
	//	f(x), then a[i] for each distance, then b[i] for each distance
	//	a[i] = (f(x + mu[i] z) - f(x - mu[i] z)) / 2
	//	b[i] = (f(x + mu[i] z) + f(x - mu[i] z)) / 2 - f(x)
	//
	// where mu is in [Distances] and z is the device's direction 0 of record n, as in a round. If the
	// loss has no slope along direction 0, z is the first of directions 1 to 7 along which it has one.
	// If there is none, z is the first along which the two losses differ at some distance, or
	// direction 7. Two losses differ if their difference is above 2^-20 of the sum of their
	// magnitudes. The loss has a slope if they differ at the longest distance where both are finite,
	// or if the difference doubles from one distance to the next, and grows to ten times at the
	// distance after. If a loss is not finite, a device's answer has a difference that is not finite.
	Mu Kind = 2
	// Sketch asks for the slopes along 64 directions that all devices share, for a plan with
	// groups=sketch. An answer has the difference quotients, as in a round, along directions 0 to 63
	// of record n, local step 0, source 0. No record follows a survey of kind Sketch.
	Sketch Kind = 3
	// Columns asks for the statistics of the device's data, for a plan with columns and no stats. An
	// answer is what package stats appends: it has no loss. With secure=sum it is added under masks.
	Columns Kind = 4
)

// FirstRounds is the number of rounds of a plan with step_auto, and without step_after, before the
// survey that finds its step. The first rounds do not move the model. In these rounds replicas only
// build up the averaged move. Then devices measure losses along the averaged move.
const FirstRounds = 5

// Before returns the number of rounds of a plan with step_auto before the survey that finds its
// step.
func Before(p *plan.Plan) uint64 { return cmp.Or(uint64(p.StepAfter), FirstRounds) }

// FirstMove returns the first round that moves the model, if devices find what they look for.
func FirstMove(p *plan.Plan) uint64 {
	if p.StepAuto > 0 && p.StepSize == 0 && p.ServerRule != plan.ServerCMA {
		return Before(p) + 1
	}
	return 1
}

// MostDecay is the largest share of the model that server_decay takes in a round of a plan with
// step_auto. The coordinator takes no longer step, because devices measure their losses along the
// averaged move without decay.
const MostDecay = 0.1

// Rounding is the relative error of a loss that single-precision arithmetic may cause. Losses that
// differ by less tell nothing.
const Rounding = 0x1p-20

// Directions is the most directions that a device tries in a survey of kind [Mu]. A loss that
// depends equally on a few parameters, such as their squared distance from a point, has no slope
// along many directions with elements of +-1: with two parameters, along half of these directions.
// In whole numbers, such a loss jumps there beside x, which is no slope.
const Directions = 8

// Sketched is the number of directions of a [Sketch].
const Sketched = 64

var names = []string{"none", "step", "mu", "sketch", "columns"}

// Known says whether this version can answer a survey of the kind.
func (k Kind) Known() bool { return k > None && int(k) < len(names) }

func (k Kind) String() string {
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// Distances are the values of mu that a survey of kind [Mu] tries, ascending.
func Distances() []float32 {
	return []float32{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100}
}

// Lengths are the step sizes that a survey of kind [Step] tries, ascending: 4^-10 to 4^5.
func Lengths() []float32 {
	lengths := make([]float32, 16)
	for i := range lengths {
		lengths[i] = float32(math.Ldexp(1, 2*(i-10)))
	}
	return lengths
}

// ValuesOf returns how many numbers an answer has in a run with a plan.
func (k Kind) ValuesOf(p *plan.Plan) int {
	if k == Columns {
		return stats.Values(p)
	}
	return k.Values()
}

// Values returns how many numbers an answer has, of a kind that is the same in all runs.
func (k Kind) Values() int {
	switch k {
	case Step:
		return 1 + len(Lengths())
	case Mu:
		return 1 + 2*len(Distances())
	case Sketch:
		return Sketched
	}
	return 0
}

// BatchStep is the local step that names the minibatch of a survey, [plan.BatchSeed]. No round has
// as many local steps as BatchStep.
const BatchStep = math.MaxUint16

// Ask returns the tail of an announcement that asks for a survey. The tail begins with rest, the
// result of [wire.Tail]. An empty array stands for each of two arrays that rest lacks. The array
// [kind] comes last.
func Ask(rest []byte, k Kind) []byte {
	for range 2 - places(rest) {
		rest = codec.AppendArray(rest, 0)
	}
	return codec.AppendUint(codec.AppendArray(rest, 1), uint64(k))
}

// places returns how many arrays rest has.
func places(rest []byte) int {
	d := codec.NewReader("announcement", rest)
	switch readReference(&d); {
	case len(rest) == 0:
		return 0
	case len(d.Rest()) == 0:
		return 1
	}
	return 2
}

// Asked returns the survey that the tail of an announcement asks for. Bytes that Asked cannot read
// belong to a later version.
func Asked(rest []byte) Kind {
	d := codec.NewReader("announcement", rest)
	readReference(&d)
	if d.Array("missing", 1, 1) == 1 {
		d.Bin("missing", len(rest))
	}
	d.Tuple("survey", 1)
	return kind(&d)
}

// readReference reads the reference, or the empty array in place of the reference.
func readReference(d *codec.Reader) {
	if d.Array("reference", codec.MaxFields, 1) == 0 {
		return
	}
	d.Uint("n", math.MaxInt64)
	d.Bin("tip", len(d.Rest()))
	d.Bin("digest", len(d.Rest()))
}

// Answer returns the tail of a reply that answers a survey: an empty array instead of the control
// variate, then the array [kind].
func Answer(k Kind) []byte {
	return codec.AppendUint(codec.AppendArray(codec.AppendArray(nil, 0), 1), uint64(k))
}

// Answered returns the survey that the tail of a contribution answers, or None for a round.
func Answered(rest []byte) Kind {
	d := codec.NewReader("reply", rest)
	if d.Array("control", codec.MaxFields, 1) != 0 {
		return None // a control variate: a survey has none
	}
	d.Tuple("survey", 1)
	return kind(&d)
}

// Slope returns the tail of a contribution to a round of a plan with step_auto: an empty array in
// place of the control variate, then the array [0, slope]. slope is the slope of the loss along the
// averaged move before the round, from the scalars of the contribution:
//
//	slope = (1/P) sum_p g_p <z_p, m>/|m|
//
// slope is finite, and 0 where m is 0.
func Slope(slope float32) []byte {
	b := codec.AppendArray(codec.AppendArray(nil, 0), 2)
	return codec.AppendFloat(codec.AppendUint(b, 0), slope)
}

// SlopeOf returns the slope in the tail of a contribution. The slope may be any float32, also NaN
// or an infinity.
func SlopeOf(rest []byte) (slope float32, ok bool) {
	d := codec.NewReader("reply", rest)
	if d.Array("control", codec.MaxFields, 1) != 0 {
		return 0, false
	}
	d.Tuple("slope", 2)
	d.Uint("kind", 0)
	slope = d.Float("slope")
	return slope, d.OK()
}

func kind(d *codec.Reader) Kind {
	k := Kind(d.Uint("kind", math.MaxUint8))
	if !d.OK() {
		return None
	}
	return k
}
