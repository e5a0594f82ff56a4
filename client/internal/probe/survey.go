package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire/survey"
)

// Survey measures what a survey of a kind asks for before record n. Survey works as [Prober.Run]
// does for a task. The result's scalars are the survey's values.
func (p *Prober) Survey(
	ctx context.Context, r *replica.Replica, kind survey.Kind, n uint64, slot uint32,
) (Result, error) {
	t := Task{N: n, Source: p.sourceOf(r.Plan(), n, slot, 0)}
	return p.measure(ctx, r, &t, surveying{kind})
}

// A surveying measures the losses that a survey asks for. A surveying changes no state and leaves
// no memory.
type surveying struct{ kind survey.Kind }

// A beside notes what the loss did at a survey's points beside the model.
type beside struct {
	answered bool  // at one of them it gave a loss, finite or not
	refused  error // the first of its errors; nil: none
}

// orInfinite returns a loss of a survey, or infinity if the app's loss gave an error: far from the
// model, a simulator or an engine may have no loss.
func (b *beside) orInfinite(f float64, err error) (float64, error) {
	if errors.As(err, new(refusal)) {
		b.refused = cmp.Or(b.refused, err)
		return math.Inf(1), nil
	}
	if err == nil { // else the job may be abandoned
		b.answered = true
	}
	return f, err
}

// fault returns an error if the loss gave an error at all points beside the model, also at those
// that are closest to it: a round would get no loss, either.
func (b *beside) fault() error {
	if b.answered || b.refused == nil {
		return nil
	}
	return fmt.Errorf("the loss works at the model, and at no point beside it: %w", b.refused)
}

func (s surveying) prepare(e *estimation) {
	b := &e.prober.buffers
	b.scalars = room(b.scalars, s.kind.ValuesOf(e.plan))
	e.scalars = b.scalars
}

func (surveying) finish(*estimation) {}

func (s surveying) estimate(e *estimation) error {
	e.batch = objective.Batch{
		N: e.N, Step: survey.BatchStep, Size: e.size,
		Seed: plan.BatchSeed(e.plan.Run, e.prober.cfg.ID, e.N, survey.BatchStep),
	}
	e.place = place{e.N, 0, e.Source}
	e.began = time.Now()
	if s.kind == survey.Sketch {
		if e.plan.Classes > 0 {
			return e.shares()
		}
		return e.sketch()
	}
	return e.surveyBeside(s.kind)
}

// surveyBeside answers a survey that asks for points far from the model, where a loss may fail. If
// the loss fails at all of them, what it answered at the model proves nothing.
func (e *estimation) surveyBeside(kind survey.Kind) (err error) {
	answered := e.prober.answered
	e.beside = beside{}
	if kind == survey.Step {
		err = e.surveyStep()
	} else {
		err = e.surveyMu()
	}
	if err != nil {
		return err
	}
	if err = e.beside.fault(); err != nil {
		e.prober.answered = answered
	}
	return err
}

// surveyStep answers a survey of kind [survey.Step].
func (e *estimation) surveyStep() (err error) {
	lengths := append([]float32{0}, survey.Lengths()...)
	e.points = len(lengths)
	if e.prober.batched != nil {
		if err := e.askAhead(lengths); err != nil {
			return err
		}
	}
	for i, a := range lengths {
		f, err := e.ahead(i, a)
		if i == 0 { // the model: its loss must be finite
			if err == nil {
				err = e.finite(f, 0, 0)
			}
			e.loss, e.scalars[0] = f, float32(f)
		} else {
			if e.prober.batched == nil { // else askAhead has done so
				f, err = e.beside.orInfinite(f, err)
			}
			e.scalars[i] = single(f - e.loss)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// askAhead asks a batched objective for the losses at the ends of moves. If the objective refuses
// to evaluate them together, askAhead asks for each loss alone. A loss that the objective then
// refuses is infinite.
func (e *estimation) askAhead(lengths []float32) error {
	pr := e.prober
	err := e.askAll(pr.source.newPoints(pr.source.ahead(e.replica, lengths), len(lengths)), 0)
	if !errors.As(err, new(refusal)) {
		return err
	}
	losses := make([]float64, len(lengths))
	for i, a := range lengths {
		err := e.askAll(pr.source.newPoints(pr.source.ahead(e.replica, []float32{a}), 1), i)
		if i == 0 && err != nil {
			return err
		}
		if i == 0 {
			losses[0] = e.losses[0]
		} else if losses[i], err = e.beside.orInfinite(e.losses[0], err); err != nil {
			return err
		}
	}
	e.losses = losses
	return nil
}

// ahead returns the loss at the end of a move along the momentum. The end is point i of the last
// call of a batched objective.
func (e *estimation) ahead(i int, a float32) (f float64, err error) {
	switch pr := e.prober; {
	case pr.batched != nil:
		return e.losses[i], nil
	case pr.streams != nil:
		return e.askStream(pr.source.newPoint(pr.source.ahead(e.replica, []float32{a})), i, i)
	default:
		probe := pr.flat()
		e.replica.Ahead(probe, 0, a)
		return e.askFlat(probe, i)
	}
}

// sketch answers a survey of kind [survey.Sketch].
func (e *estimation) sketch() error {
	e.place.source = prng.Shared
	base, err := e.start(len(e.scalars))
	if err != nil {
		return err
	}
	sum := 0.0
	for p := range e.scalars {
		d, mean, err := e.difference(base, p)
		if err != nil {
			return err
		}
		if e.scalars[p] = single(d); !(abs(e.scalars[p]) <= e.plan.MaxScalar) {
			return tooLarge(e.scalars[p], e.plan, fmt.Sprintf("along direction %d of a sketch", p))
		}
		sum += mean
	}
	e.loss = sum / float64(len(e.scalars))
	return nil
}

// surveyMu answers a survey of kind [survey.Mu], along the first direction with a slope. Without
// one, the answer is of the first direction along which the loss changes at all.
func (e *estimation) surveyMu() error {
	e.computeLengths(1)
	base, err := e.base()
	if err != nil {
		return err
	}
	e.scalars[0] = float32(base)
	var changed []float32
	for p := range survey.Directions {
		s, err := e.bends(base, p)
		if err != nil || s.Sloped() {
			return err
		}
		if s.Change() && changed == nil {
			changed = slices.Clone(e.scalars)
		}
	}
	if changed != nil {
		copy(e.scalars, changed)
	}
	return nil
}

// bends sets the odd and even differences for all distances along direction p, and returns the
// sides of the odd ones.
func (e *estimation) bends(base float64, p int) (survey.Sides, error) {
	distances := survey.Distances()
	odd, even := e.scalars[1:], e.scalars[1+len(distances):]
	var s survey.Sides
	for i, mu := range distances {
		plus, minus, err := e.pair(mu, p)
		if err != nil {
			return nil, err
		}
		odd[i] = single((plus - minus) / 2)
		even[i] = single((plus-base)/2 + (minus-base)/2)
		s = append(s, survey.Side(plus, minus))
	}
	return s, nil
}

// base returns the loss at x, which must be finite. The reply's loss is this loss.
func (e *estimation) base() (f float64, err error) {
	e.points = 1
	if e.prober.batched != nil {
		points := replica.Points{X: e.local.X, Mu: 1} // a forward difference of no directions: x alone
		err := e.askAll(e.prober.source.all(e.replica, points, e.place, 0, 0), 0)
		if err != nil {
			return 0, err
		}
	}
	e.loss, err = e.at(0, 0, 0)
	return e.loss, err
}

// pair returns the losses at x + mu z and x - mu z, finite or not, with z direction p.
func (e *estimation) pair(mu float32, p int) (plus, minus float64, err error) {
	e.points = 2
	if e.prober.batched != nil {
		points := replica.Points{X: e.local.X, Mu: mu, Central: true}
		err := e.askAll(e.prober.source.all(e.replica, points, e.place, p, p+1), 0)
		refused := errors.As(err, new(refusal)) // at both points or at one: a difference needs both
		if plus, err = e.beside.orInfinite(e.losses[0], err); refused {
			return plus, plus, err
		}
		return plus, e.losses[1], err
	}
	if plus, err = e.beside.orInfinite(e.anyAt(0, mu, p)); err != nil {
		return 0, 0, err
	}
	minus, err = e.beside.orInfinite(e.anyAt(1, -mu, p))
	return plus, minus, err
}

// single rounds v to float32. A loss that is not finite becomes infinite, so that all devices
// report it with the same bits.
func single(v float64) float32 {
	if f := float32(v); f-f == 0 {
		return f
	}
	return float32(math.Inf(1))
}
