package probe

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/zofl/zofl/internal/perclass"
	"github.com/zofl/zofl/plan"
)

// The next two errors are faults of an objective from which a plan asks losses by class.
var (
	// ErrNoClasses says that the plan has classes, and the objective offers no losses by class.
	ErrNoClasses = errors.New("the plan has classes, and the objective has no losses by class: " +
		"implement objective.Classed, or leave the run")
	errClasses = errors.New("wrong losses by class")
)

// classes is the transport of a plan with classes: the device sends scalars for each class of its
// minibatch.
type classes struct{ scalars }

// A classStep is a local step by class.
type classStep struct {
	sums, from []float64 // at a point and at the point compared with it, by class
	counts     []int     // samples of the minibatch, by class; empty: not known yet
	now        []int     // the numbers that the last call told
	parts      []int     // the classes whose scalars the device sends
	all        int       // samples of the classes in parts
}

func (classes) prepare(e *estimation) {
	e.local.M = e.replica.Momentum()
	b := &e.prober.buffers
	b.scalars = room(b.scalars, int(e.plan.Classes)*e.Perturbations)
	e.scalars = b.scalars
}

func (classes) estimate(e *estimation) error {
	if err := e.classed(); err != nil {
		return err
	}
	e.place = place{e.N, 0, e.Source}
	e.batch = e.minibatch(e.N, 0)
	e.began = time.Now()
	if err := e.classScalars(); err != nil {
		return err
	}
	if err := e.classParts(); err != nil {
		return err
	}
	if e.plan.StepAuto > 0 {
		e.heading = e.replica.Slope(e.N, e.meanScalars(), e.Source)
	}
	return nil
}

// classed returns an error if the objective has no losses by class.
func (e *estimation) classed() error {
	if e.prober.classed == nil {
		return ErrNoClasses
	}
	return nil
}

// classScalars sets e.scalars to the scalars of each class in parts, in blocks of P. All scalars
// are of one minibatch:
//
//	forward: d_c = (f_c(x+mu z) - f_c(x))/mu
//	central: d_c = (f_c(x+mu z) - f_c(x-mu z))/(2 mu)
//
// f_c is the mean loss over the samples of class c.
func (e *estimation) classScalars() error {
	s, central := &e.prober.class, e.plan.Difference == plan.Central
	s.counts = s.counts[:0]
	e.computeLengths(e.Perturbations)
	base, err := 0.0, error(nil)
	if !central {
		if base, err = e.classesAt(&s.from, 0, 0); err != nil {
			return err
		}
	}
	sum := 0.0
	for p := range e.Perturbations {
		mean := base
		if central {
			if mean, err = e.classesAt(&s.from, -e.plan.Mu, p); err != nil {
				return err
			}
		}
		loss, err := e.classesAt(&s.sums, e.plan.Mu, p)
		if err != nil {
			return err
		}
		if central {
			mean = (mean + loss) / 2
		}
		sum += mean
		e.classDifferences(p)
	}
	e.loss = sum / float64(e.Perturbations)
	return nil
}

// classDifferences sets scalar p of each class in parts.
func (e *estimation) classDifferences(p int) {
	s, span := &e.prober.class, float64(e.plan.Mu)
	if e.plan.Difference == plan.Central {
		span *= 2
	}
	for i, c := range s.parts {
		d := (s.sums[c] - s.from[c]) / float64(s.counts[c])
		e.scalars[i*e.Perturbations+p] = single(e.inUnits(d / span))
	}
}

// classesAt asks for the losses by class at x + mu z[p], and returns the mean loss over the
// minibatch.
func (e *estimation) classesAt(sums *[]float64, mu float32, p int) (mean float64, err error) {
	pr, s := e.prober, &e.prober.class
	*sums, s.now = room(*sums, int(e.plan.Classes)), room(s.now, int(e.plan.Classes))
	clear(*sums)
	clear(s.now)
	x := pr.flat()
	if mu == 0 {
		copy(x, e.local.X)
	} else {
		z := e.directions(p, p+1)
		e.replica.Perturb(x, e.local.X, 0, mu, &z[0])
	}
	if err := e.enter(0, p, 1); err != nil {
		return 0, err
	}
	if err := e.leave(pr.classed.ClassLosses(e.ctx, x, e.batch, *sums, s.now)); err != nil {
		return 0, err
	}
	if err := e.countClasses(p); err != nil {
		return 0, err
	}
	all := 0
	for c, n := range s.now {
		mean, all = mean+(*sums)[c], all+n
	}
	mean /= float64(all)
	return mean, e.finite(mean, 0, p)
}

// countClasses checks the numbers of samples that a call of the app returned. After the first call
// of a minibatch, countClasses chooses the classes whose scalars the device sends.
func (e *estimation) countClasses(p int) error {
	s := &e.prober.class
	if len(s.counts) > 0 {
		if !slices.Equal(s.counts, s.now) {
			return fmt.Errorf("%w: perturbation %d has %v samples, the first %v: counts must not "+
				"depend on x", errClasses, p, s.now, s.counts)
		}
		return nil
	}
	all := 0
	for c, n := range s.now {
		if n < 0 || n > math.MaxInt32 {
			return fmt.Errorf("%w: %d samples of class %d", errClasses, n, c)
		}
		all += n
	}
	if all == 0 || e.size > 0 && all > e.size {
		return fmt.Errorf("%w: %d samples in a minibatch of %d", errClasses, all, e.size)
	}
	s.counts = append(s.counts, s.now...)
	s.choose()
	return nil
}

// choose chooses the classes whose scalars the device sends: those with at least [perclass.Least]
// samples. If no class has so many, choose takes the classes with the most samples.
func (s *classStep) choose() {
	s.parts, s.all = s.parts[:0], 0
	least := min(perclass.Least, slices.Max(s.counts))
	for c, n := range s.counts {
		if n >= least {
			s.parts, s.all = append(s.parts, c), s.all+n
		}
	}
}

// classParts encodes the scalars to send, and sets e.scalars to the values that other devices read.
func (e *estimation) classParts() error {
	s, last := &e.prober.class, -1
	for i, c := range s.parts {
		g := e.scalars[i*e.Perturbations : (i+1)*e.Perturbations]
		e.block = e.plan.Precision.Append(e.block[:0], g...)
		e.plan.Precision.Decode(g, e.block, 0)
		for p, v := range g {
			if !(abs(v) <= e.plan.MaxScalar) {
				return tooLarge(v, e.plan, fmt.Sprintf("of class %d, perturbation %d", c, p))
			}
		}
		part := perclass.Part{Class: uint32(c), Count: uint32(s.counts[c]), Scalars: e.block}
		e.sent, last = perclass.Append(e.sent, last, part), c
	}
	e.scalars = e.scalars[:len(s.parts)*e.Perturbations]
	return nil
}

// meanScalars returns the mean of the scalars of the classes in parts, weighted by their samples.
func (e *estimation) meanScalars() []float32 {
	s := &e.prober.class
	mean := make([]float32, e.Perturbations)
	for p := range mean {
		sum := 0.0
		for i, c := range s.parts {
			sum += float64(s.counts[c]) * float64(e.scalars[i*e.Perturbations+p])
		}
		mean[p] = float32(sum / float64(s.all))
	}
	return mean
}

// shares answers a survey of kind [survey.Sketch] with the shares of the device's classes. A survey
// of this kind asks for no loss.
func (e *estimation) shares() error {
	if err := e.classed(); err != nil {
		return err
	}
	counts, err := e.classCounts()
	if err != nil {
		return err
	}
	copy(e.scalars, perclass.Shares(counts))
	return nil
}

// classCounts asks how many samples of each class the device has.
func (e *estimation) classCounts() (counts []int, err error) {
	if err := e.enter(0, 0, 0); err != nil {
		return nil, err
	}
	counts = e.prober.classed.ClassCounts()
	if err := e.leave(nil); err != nil {
		return nil, err
	}
	if len(counts) != int(e.plan.Classes) {
		return nil, fmt.Errorf("%w: ClassCounts has %d classes, the plan %d", errClasses,
			len(counts), e.plan.Classes)
	}
	all := 0
	for c, n := range counts {
		if n < 0 {
			return nil, fmt.Errorf("%w: ClassCounts has %d samples of class %d", errClasses, n, c)
		}
		all += n
	}
	if all == 0 {
		return nil, fmt.Errorf("%w: ClassCounts has no sample", errClasses)
	}
	return counts, nil
}
