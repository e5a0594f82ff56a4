package probe

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/wire"
)

// evaluates makes one device evaluate the candidates of record 2, of a plan of the preset cma for 6
// parameters that begins at sigma 0.5. It returns its replica too.
func evaluates(t *testing.T, o objective.Objective, fields ...string) (Result, *member, error) {
	t.Helper()
	p := densePlan(t, "cma", o.Dim(), append([]string{"step=0.5"}, fields...)...)
	r := newRig(t, p, o)
	c := r.clients[0]
	task := c.Task(c.replica, r.announcement(), c.slot, 0)
	result, err := c.Run(t.Context(), c.replica, task)
	if calls := c.Calls(p, &task); err == nil && calls.Queries != c.Queries() {
		t.Errorf("the task takes %v, the app was called %d times", calls, c.Queries())
	}
	return result, c, err
}

// candidatesOf returns the candidates of record 2.
func candidatesOf(c *member, n int) (points [][]float32) {
	for k := range n {
		x := make([]float32, c.dim)
		c.replica.Candidate(x, 2, k)
		points = append(points, x)
	}
	return points
}

// With an offset of 1e9, float32 losses would all be equal.
const high = 1e9

func offsetBowl(x []float32) float64 { return high + bowl(x) }

// TestCandidates: a scalar is a candidate's loss less the least one, the reply's loss is the least
// one, and every kind of objective gets the same candidates.
func TestCandidates(t *testing.T) {
	flat := objective.Func(6,
		func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
			f := offsetBowl(x)
			x[0] = 7 // the app may write to x
			return f, nil
		})
	result, c, err := evaluates(t, flat)
	if err != nil {
		t.Fatal(err)
	}
	var want []float32
	least := math.Inf(1)
	points := candidatesOf(c, 9)
	for _, x := range points {
		least = min(least, offsetBowl(x))
	}
	for _, x := range points {
		want = append(want, float32(offsetBowl(x)-least))
	}
	if !slices.Equal(result.Scalars, want) || result.Loss != least ||
		!slices.Equal(result.Sent, wire.Scalars(wire.AppendScalars(nil, want...))) {
		t.Errorf("got %v above %v, want %v above %v", result.Scalars, result.Loss, want, least)
	}
	if slices.Max(want) < 0.1 || slices.Min(want) != 0 {
		t.Errorf("scalars %v", want)
	}
	o := &placed{}
	for name, other := range map[string]objective.Objective{
		"stream": o.stream(6), "many": o.many(6), "gradient": withGradient{flat},
	} {
		got, c, err := evaluates(t, other)
		if err != nil {
			t.Fatal(name, err)
		}
		if name == "gradient" {
			if !slices.Equal(got.Scalars, want) || c.Gradients() > 0 {
				t.Errorf("%s: %v, want %v", name, got.Scalars, want)
			}
			continue
		}
		for i, x := range points {
			if at := [2]int{i, 9}; o.seen[i] != at {
				t.Errorf("%s: point %d is %v, want %v", name, i, o.seen[i], at)
			}
			if v := bowl(x) - got.Loss; float32(v) != got.Scalars[i] {
				t.Errorf("%s: scalar %d is %v, want %v", name, i, got.Scalars[i], v)
			}
		}
		o.seen = nil
	}
}

// A withGradient has a gradient that nobody may ask for.
type withGradient struct{ objective.Objective }

func (o withGradient) Loss(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
	return o.Objective.(objective.Flat).Loss(ctx, x, b)
}

func (withGradient) Gradient(context.Context, []float32, objective.Batch, []float32) (float64,
	error) {
	return 0, errors.New("a candidate needs no gradient")
}

// odd returns an objective whose loss at some queries is another number.
func odd(losses map[int]float64) objective.Objective {
	n := 0
	return objective.Func(6, func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
		n++
		if f, ok := losses[n-1]; ok {
			return f, nil
		}
		return bowl(x), nil
	})
}

// TestInfiniteCandidates: a candidate whose loss is not finite gets the largest scalar. Where none
// is finite, the device declines.
func TestInfiniteCandidates(t *testing.T) {
	for _, fields := range [][]string{{"max_scalar=100"}, {"max_scalar=100", "precision=half"}} {
		result, _, err := evaluates(t, odd(map[int]float64{
			1: math.NaN(), 2: math.Inf(1), 3: math.Inf(-1), 4: 1e300, 5: 1e30}), fields...)
		if err != nil {
			t.Fatal(fields, err)
		}
		for i, g := range result.Scalars {
			if large := g >= 99 && g <= 100; large != (i > 0 && i < 6) {
				t.Errorf("%v: scalar %d is %v", fields, i, g)
			}
		}
	}
	none := map[int]float64{}
	for i := range 9 {
		none[i] = math.NaN()
	}
	if _, _, err := evaluates(t, odd(none)); !errors.Is(err, errNotFinite) {
		t.Errorf("no finite loss: %v", err)
	}
}

// TestSecondLoss: with the rule for noise a device evaluates its first candidate with a finite loss
// twice, and says by how much the losses differ.
func TestSecondLoss(t *testing.T) {
	const on = "perturbations_auto=on"
	for _, c := range []struct {
		name   string
		losses map[int]float64
		want   float32
	}{
		{"no noise", nil, 0},
		{"noise", map[int]float64{0: 10, 9: 12.5}, 2.5},
		{"the second, as the first is infinite", map[int]float64{0: math.Inf(1), 1: 3, 9: 1}, -2},
		{"an infinite second loss", map[int]float64{9: math.Inf(1)}, 0},
	} {
		result, member, err := evaluates(t, odd(c.losses), on)
		if err != nil || result.Slope != c.want || member.Queries() != 10 ||
			len(result.Scalars) != 9 {
			t.Errorf("%s: %v after %d queries, %v, want %v after 10", c.name, result.Slope,
				member.Queries(), err, c.want)
		}
	}
	if _, c, _ := evaluates(t, odd(nil)); c.Queries() != 9 {
		t.Errorf("without the rule: %d queries", c.Queries())
	}
	var together []int
	many := objective.Many(6, func(_ context.Context, p *objective.Points, _ objective.Batch,
		losses []float64) error {
		together = append(together, p.Len())
		for i := range losses {
			losses[i] = float64(len(together))
		}
		return nil
	})
	if result, _, err := evaluates(t, many, on); err != nil || result.Slope != 1 ||
		!slices.Equal(together, []int{9, 1}) {
		t.Errorf("batched: %v, %v points, %v", result.Slope, together, err)
	}
}

// TestCandidatesInParts: a batched objective gets no more candidates at once than there is memory
// for, and a streaming one numbers them alike.
func TestCandidatesInParts(t *testing.T) {
	usual := pointsRoom
	pointsRoom = 4 * 6 * 4
	t.Cleanup(func() { pointsRoom = usual })
	want := [][2]int{{0, 4}, {1, 4}, {2, 4}, {3, 4}, {0, 4}, {1, 4}, {2, 4}, {3, 4}, {0, 1}}
	var scalars [][]float32
	for _, of := range []func(*placed) objective.Objective{
		func(o *placed) objective.Objective { return o.stream(6) },
		func(o *placed) objective.Objective { return o.many(6) },
	} {
		o := &placed{}
		result, _, err := evaluates(t, of(o))
		if err != nil || !slices.Equal(o.seen, want) {
			t.Errorf("points %v, %v, want %v", o.seen, err, want)
		}
		scalars = append(scalars, result.Scalars)
	}
	if !slices.Equal(scalars[0], scalars[1]) {
		t.Errorf("scalars %v and %v", scalars[0], scalars[1])
	}
}
