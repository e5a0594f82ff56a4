package probe

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/client/objective"
)

// streamSlopes is a streaming objective that reads its vector in two pieces.
type streamSlopes struct{ *slopes }

func (o streamSlopes) LossAt(
	ctx context.Context, x *objective.Point, b objective.Batch,
) (float64, error) {
	whole := make([]float32, x.Dim())
	if err := errors.Join(x.Read(whole[:3], 0), x.Read(whole[3:], 3)); err != nil {
		return 0, err
	}
	return o.Loss(ctx, whole, b)
}

// batchSlopes is a batched objective.
type batchSlopes struct {
	*slopes
	calls []int
}

func (o *batchSlopes) LossesAt(
	ctx context.Context, x *objective.Points, b objective.Batch, losses []float64,
) error {
	o.calls = append(o.calls, x.Len())
	whole := make([][]float32, x.Len())
	for i := range whole {
		whole[i] = make([]float32, x.Dim()-1)
	}
	last := make([][]float32, x.Len())
	for i := range last {
		last[i] = make([]float32, 1)
	}
	if err := errors.Join(x.Read(whole, 0), x.Read(last, x.Dim()-1)); err != nil {
		return err
	}
	for i := range whole {
		losses[i], _ = o.Loss(ctx, append(whole[i], last[i]...), b)
	}
	return nil
}

// A flat, a streaming and a batched objective get the same queries, and the device sends the same
// vector. The active queries of a step are one batch.
func TestSurrogateObjectives(t *testing.T) {
	const d = 7
	many := &batchSlopes{slopes: newSlopes(d, 0, 1)}
	r := newRig(t, smallFZooS(t, d, ""), newSlopes(d, 0, 1), streamSlopes{newSlopes(d, 0, 1)}, many)
	for _, c := range r.clients {
		c.cfg.ID = "same" // the minibatches and candidates depend on the ID
	}
	for range 4 {
		sent := r.round()
		for i, v := range sent {
			if !slices.Equal(v, sent[0]) {
				t.Fatalf("objective %d sent\n%v, the flat one\n%v", i, v, sent[0])
			}
		}
	}
	if want := []int{1, 3, 1, 3, 1, 3, 1, 3, 1, 4}; !slices.Equal(many.calls[:len(want)], want) {
		t.Errorf("calls of %v points, want %v", many.calls, want)
	}
	for i, c := range r.clients {
		if got, want := c.queries, uint64(2*(4*4+5)); got != want {
			t.Errorf("objective %d: %d queries are counted, want %d", i, got, want)
		}
	}
}

// A loss that is not finite costs the device its contribution to the record. The device keeps the
// points that it measured before that loss, and measures the losses at these points again.
func TestSurrogateNaN(t *testing.T) {
	for _, kind := range []string{"flat", "batched"} {
		t.Run(kind, func(t *testing.T) {
			o := newSlopes(5, 0, 1)
			o.mood = func(query int) float64 {
				if query == 7 {
					return math.NaN()
				}
				return 0
			}
			var objective objective.Objective = o
			if kind == "batched" {
				objective = &batchSlopes{slopes: o}
			}
			r := newRig(t, smallFZooS(t, 5, ""), objective)
			c := r.clients[0]
			_, _, err := r.work(c)
			if !errors.Is(err, errNotFinite) ||
				!strings.Contains(err.Error(), "NaN at step 1, query 2") {
				t.Fatalf("got %v, want a NaN at step 1, query 2", err)
			}
			if got := c.memory.trajectory.process.Len(); got != 6 {
				t.Errorf("%d points, want the 6 before", got)
			}
			for range 4 {
				r.round()
			}
			if got, want := c.memory.trajectory.process.Len(), 6+2*21; got != want {
				t.Errorf("%d points, want %d", got, want)
			}
		})
	}
}

// The device stops working soon after its round ends, and continues in the next round.
func TestSurrogateCancelled(t *testing.T) {
	o := newSlopes(5, 0, 1)
	r := newRig(t, smallFZooS(t, 5, ""), o)
	c, reason := r.clients[0], errors.New("the round is over")
	for _, query := range []int{1, 2, 6} {
		ctx, cancel := context.WithCancelCause(t.Context())
		o.queries, o.mood = 0, func(q int) float64 {
			if q == query {
				cancel(reason)
			}
			return 0
		}
		c.Prepare(c.replica)
		e := c.estimation(c.replica, &Task{N: 2, Phase: 1, StepSize: 0.01}, vectors{})
		if err := e.run(ctx); !errors.Is(err, reason) {
			t.Errorf("query %d: got %v, want %v", query, err, reason)
		}
		if !c.calls.Idle(t.Context(), time.Minute) { // the job may be abandoned
			t.Fatal("the job did not end")
		}
		if o.queries != query {
			t.Errorf("%d queries, want none after query %d", o.queries, query)
		}
	}
	o.mood = nil
	r.round()
}
