package paper

import (
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/testing/paper/run"
	"github.com/zofl/zofl/wire/planfile"
	"github.com/zofl/zofl/wire/preset"
	"github.com/zofl/zofl/wire/valid"
)

// TestByzantine is the short form, too short for its claim to mean anything.
func TestByzantine(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	r := experiment(t, "byzantine", &Env{Short: true, Generated: 600, Screen: true})
	if len(r.Claims) != 1 || len(r.Summary.Rows) != 2 {
		t.Fatalf("%d claims and %d rows, want 1 and 2", len(r.Claims), len(r.Summary.Rows))
	}
	for i, cell := range r.Summary.Rows[0] {
		if cell == "" || i > 2 && r.Summary.Rows[1][i] != "" {
			t.Errorf("column %d: %q, and %q of honest devices alone", i, cell, r.Summary.Rows[1][i])
		}
	}
}

// TestShields: what bounds liars can run.
func TestShields(t *testing.T) {
	for _, s := range shields {
		p, err := preset.New("decomfl", "shield", 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range strings.Fields(s.settings) {
			name, value, _ := strings.Cut(field, "=")
			if err := planfile.Set(p, name, value); err != nil {
				t.Error(err)
			}
		}
		if err := valid.Plan(p); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
	}
}

// TestLies compares what a liar answers with what it should, for a loss of sum(x) times the number
// of a sample: by its loss along one direction and by its gradient.
func TestLies(t *testing.T) {
	honest := run.Task{
		Loss: func(x []float32, batch []int) float64 {
			sum := 0.0
			for _, v := range x {
				sum += float64(v) * float64(batch[0]+1)
			}
			return sum
		},
		Gradient: func(grad, x []float32, batch []int) float64 {
			for i := range grad {
				grad[i] += float32(batch[0] + 1)
			}
			return 0
		},
	}
	shares := [][]int{{0}, {1}, {2}, {3}, {9}, {9}}
	x, y := make([]float32, 12), make([]float32, 12)
	y[0] = 1
	for _, l := range lies[1:] {
		task := l.task(honest, shares, 10)
		for client, want := range map[int]float64{4: 10, 1: map[string]float64{"random": 0,
			"flipped": -2, "scaled": -20, "league": -100, "half": -5}[l.name]} {
			batch, grad := shares[client], make([]float32, 12)
			task.Gradient(grad, x, batch)
			slope := task.Loss(y, batch) - task.Loss(x, batch)
			if l.random && client == 1 {
				if grad[0] == grad[1] || math.Abs(float64(grad[0])) > 2000 {
					t.Errorf("%s: a gradient of %v", l.name, grad)
				}
				continue
			}
			if slope != want || float64(grad[3]) != want {
				t.Errorf("%s: client %d has a slope of %v and a gradient of %v, want %v", l.name,
					client, slope, grad[3], want)
			}
		}
	}
}
