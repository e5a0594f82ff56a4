package client_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/internal/perclass"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// classPlan has four classes, and minibatches of 13.
func classPlan(edits ...func(*plan.Plan)) *plan.Plan {
	p := groupPlan()
	p.Groups, p.Classes, p.Batch, p.Perturbations = grouping.Sketch, 4, 13, 3
	for _, edit := range edits {
		edit(p)
	}
	return p
}

// A classed is an objective with a loss for each class.
type classed struct {
	objective.Objective
	mine, batch []int // samples of each class
	calls       int
	fails       func(call int, counts []int) error
}

func newClassed() *classed {
	return &classed{Objective: bowlLoss(small, 0), mine: []int{30, 5, 0, 65},
		batch: []int{6, 2, 0, 5}}
}

// classLoss is the mean loss of the samples of a class.
func classLoss[T float32 | float64](x []T, class int) (sum float64) {
	for i, v := range x {
		e := float64(v) - 0.3*float64(class) - 0.1*float64(i%5)
		sum += e * e
	}
	return sum
}

func (o *classed) Loss(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
	panic("asked for the loss of all classes")
}

func (o *classed) ClassCounts() []int { return o.mine }

func (o *classed) ClassLosses(_ context.Context, x []float32, b objective.Batch, sums []float64,
	counts []int) error {
	if b.Size != 13 || len(x) != small || slices.Max(counts) > 0 {
		panic("asked for another minibatch")
	}
	copy(counts, o.batch)
	for c, n := range o.batch {
		sums[c] = float64(n) * classLoss(x, c)
	}
	o.calls++
	if o.fails != nil {
		return o.fails(o.calls, counts)
	}
	return nil
}

// A device sends scalars of each class of its minibatch with five samples or more. The scalars are
// difference quotients of the class's loss, along the directions of the device's group. The test
// computes them in float64.
func TestScalarsByClass(t *testing.T) {
	for name, edit := range map[string]func(*plan.Plan){
		"forward": func(*plan.Plan) {},
		"central": func(p *plan.Plan) { p.Difference = plan.Central },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h, o := newHost(t, classPlan(edit)), newClassed()
				h.device("d0", o)
				h.announce(inGroups([]uint32{3}, []uint32{0}))
				r := h.one(wire.Contribution)
				if g, ok := grouping.OfReply(&r.Reply); !ok || g != 1 {
					t.Errorf("group %d, %v", g, ok)
				}
				plan := h.witness(1).Plan()
				want := uint64(o.calls)
				if got := plan.Queries(3); got != want {
					t.Errorf("%d calls, a round has %d queries", want, got)
				}
				parts, ok := perclass.Parts(nil, plan, r.Values, 3)
				if !ok || len(parts) != 2 || parts[0].Class != 0 || parts[0].Count != 6 ||
					parts[1].Class != 3 || parts[1].Count != 5 {
					t.Fatalf("parts %v, %v", parts, ok)
				}
				x := wide(h.witness(1).Params())
				for _, part := range parts {
					for p := range 3 {
						checkScalar(t, plan, x, int(part.Class), p, part.Scalars.At(p))
					}
				}
			})
		})
	}
}

// checkScalar compares a scalar with the equation in float64.
func checkScalar(t *testing.T, pl *plan.Plan, x []float64, class, p int, got float32) {
	t.Helper()
	z := direction(pl, 2, 0, p, 2) // of slot 1
	at := func(side float64) float64 {
		probe := slices.Clone(x)
		for i := range probe {
			probe[i] += side * float64(pl.Mu) * z[i]
		}
		return classLoss(probe, class)
	}
	want := (at(1) - at(0)) / float64(pl.Mu)
	if pl.Difference == plan.Central {
		want = (at(1) - at(-1)) / (2 * float64(pl.Mu))
	}
	if math.Abs(float64(got)-want) > 1e-3*(1+math.Abs(want)) {
		t.Errorf("class %d, direction %d: %v, want %v", class, p, got, want)
	}
}

// If no class has enough samples in a minibatch, the device sends the classes with the most
// samples.
func TestFewOfEachClass(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, classPlan()), newClassed()
		o.batch = []int{3, 1, 0, 3}
		h.device("d0", o)
		h.announce(inGroups([]uint32{0}))
		r := h.one(wire.Contribution)
		parts, ok := perclass.Parts(nil, h.witness(1).Plan(), r.Values, 3)
		if !ok || len(parts) != 2 || parts[0].Class != 0 || parts[1].Class != 3 {
			t.Errorf("parts %v", parts)
		}
		want := (3*classLoss(h.witness(1).Params(), 0) + classLoss(h.witness(1).Params(), 1) +
			3*classLoss(h.witness(1).Params(), 3)) / 7
		if math.Abs(float64(r.Loss)-want) > 1e-4*want {
			t.Errorf("loss %v, want the mean of all samples, %v", r.Loss, want)
		}
	})
}

// A device answers a sketch with the shares of its classes, without a query.
func TestSharesOfClasses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, classPlan()), newClassed()
		h.device("d0", o)
		h.announce(asking(survey.Sketch))
		r := h.one(wire.Contribution)
		want := wire.AppendScalars(nil, append([]float32{0.3, 0.05, 0, 0.65},
			make([]float32, survey.Sketched-4)...)...)
		if string(r.Values) != string(want) || survey.Answered(r.Rest) != survey.Sketch ||
			o.calls != 0 {
			t.Errorf("%x after %d calls, want %x", []byte(r.Values), o.calls, []byte(want))
		}
	})
	for words, mine := range map[string][]int{"ClassCounts has 3 classes": {1, 2, 3},
		"no sample": {0, 0, 0, 0}, "-1 samples of class 1": {1, -1, 3, 4}} {
		bubble(t, func(t *testing.T) {
			h, o := newHost(t, classPlan()), newClassed()
			o.mine = mine
			d := h.device("d0", o)
			h.announce(asking(survey.Sketch))
			h.declines(wire.DeclineLoss)
			declinedFor(t, d, words)
		})
	}
}

// Without losses by class a device declines and says why. A device with wrong losses by class does
// the same. In a later round the device may contribute.
func TestWrongClasses(t *testing.T) {
	for words, edit := range map[string]func(*classed){
		"must not depend on x": func(o *classed) {
			o.fails = func(call int, counts []int) error { counts[1] -= call % 2; return nil }
		},
		"22 samples in a minibatch of 13": func(o *classed) { o.batch = []int{6, 6, 5, 5} },
		"0 samples in a minibatch":        func(o *classed) { o.batch = make([]int, 4) },
		"-1 samples of class 2":           func(o *classed) { o.batch = []int{6, 2, -1, 5} },
		"out of memory": func(o *classed) {
			o.fails = func(int, []int) error { panic("out of memory") }
		},
	} {
		bubble(t, func(t *testing.T) {
			h, o := newHost(t, classPlan()), newClassed()
			batch := o.batch
			edit(o)
			d := h.device("d0", o)
			h.announce(inGroups([]uint32{0}))
			h.declines(wire.DeclineLoss)
			declinedFor(t, d, words)
			o.fails, o.batch = nil, batch
			h.conclude(wire.Round{Contributors: 1, Terms: []wire.Term{{Source: prng.Slot(0),
				Scalars: wire.AppendScalars(nil, 1, 2, 3)}}})
			pass(time.Minute) // the time of a backoff
			h.announce(inGroups([]uint32{0}))
			h.one(wire.Contribution)
		})
	}
	bubble(t, func(t *testing.T) {
		h := newHost(t, classPlan())
		d := h.device("d0", bowlLoss(small, 0))
		h.announce(inGroups([]uint32{0}))
		h.declines(wire.DeclineLoss)
		declinedFor(t, d, "implement objective.Classed")
	})
}

// declinedFor checks that a device told why it declined.
func declinedFor(t *testing.T, d *device, words string) {
	t.Helper()
	for _, p := range d.progress() {
		if p.Err != nil && strings.Contains(p.Err.Error(), words) {
			return
		}
	}
	t.Errorf("nothing says %q", words)
}
