package objective_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
)

// sum is a loss that reads blocks of two parameters.
func sum(_ context.Context, x *objective.Point, _ objective.Batch) (float64, error) {
	total, block := 0.0, make([]float32, 2)
	for off := 0; off < x.Dim(); off += len(block) {
		part := block[:min(len(block), x.Dim()-off)]
		if err := x.Read(part, off); err != nil {
			return 0, err
		}
		for _, v := range part {
			total += float64(v)
		}
	}
	return total, nil
}

// An app can test its own streaming loss at a vector that it chooses.
func TestNewPoint(t *testing.T) {
	got, err := objective.Stream(5, sum).LossAt(
		t.Context(), objective.NewPoint([]float32{1, 2, 3, 4, 5}), objective.Batch{})
	if got != 15 || err != nil {
		t.Errorf("loss at a point: got %v, %v, want 15", got, err)
	}
}

// A point that an app makes is the only point of its step, until the app numbers it.
func TestNumbered(t *testing.T) {
	p := objective.NewPoint([]float32{1, 2})
	if p.Index() != 0 || p.Count() != 1 {
		t.Errorf("point %d of %d, want 0 of 1", p.Index(), p.Count())
	}
	q, x := p.Numbered(3, 8), make([]float32, 2)
	if err := q.Read(x, 0); q.Index() != 3 || q.Count() != 8 || x[1] != 2 || err != nil {
		t.Errorf("point %d of %d, %v, %v", q.Index(), q.Count(), x, err)
	}
}

// An app can test its own batched loss at vectors that it chooses.
func TestNewPoints(t *testing.T) {
	sums := func(_ context.Context, x *objective.Points, _ objective.Batch,
		losses []float64) error {
		dst := make([][]float32, x.Len())
		for i := range dst {
			dst[i] = make([]float32, x.Dim()-1)
		}
		if err := x.Read(dst, 1); err != nil {
			return err
		}
		for i, x := range dst {
			losses[i] = float64(x[0]) + float64(x[1])
		}
		return nil
	}
	x := objective.NewPoints([]float32{1, 2, 3}, []float32{4, 5, 6})
	losses := make([]float64, x.Len())
	err := objective.Many(3, sums).LossesAt(t.Context(), x, objective.Batch{}, losses)
	if want := []float64{5, 11}; !slices.Equal(losses, want) || err != nil {
		t.Errorf("losses at points: got %v, %v, want %v", losses, err, want)
	}
}

// A read outside the model gives an error that says what the app read.
func TestReadOutside(t *testing.T) {
	p, ps := objective.NewPoint(make([]float32, 3)), objective.NewPoints(make([]float32, 3))
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"before", p.Read(make([]float32, 1), -1), "-1..0 of 3"},
		{"behind", p.Read(make([]float32, 2), 2), "2..4 of 3"},
		{"behind, of points", ps.Read([][]float32{make([]float32, 4)}, 0), "0..4 of 3"},
		{"of other points", ps.Read(nil, 0), "0 points of 1"},
		{"lengths", objective.NewPoints(make([]float32, 3), make([]float32, 3)).
			Read([][]float32{make([]float32, 1), make([]float32, 2)}, 0), "the same length"},
	} {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", tt.name, tt.err, tt.want)
		}
	}
}
