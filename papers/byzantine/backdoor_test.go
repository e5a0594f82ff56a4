package byzantine

import (
	"math"
	"testing"

	"github.com/zofl/zofl/papers/lab"
)

// TestBackdoor: a model that takes ink in a corner for class 0 has the backdoor, and a model of
// zeros, which takes every image for class 0, too. One that never says 0 has it not.
func TestBackdoor(t *testing.T) {
	set, err := (&lab.Env{Generated: 600}).MNIST()
	if err != nil {
		t.Fatal(err)
	}
	task, _ := set.Task(false)
	task = measured(task, set)
	for corner, want := range map[float32]float64{50: 1, 0: 0} {
		x := make([]float32, task.Dim)
		x[0], x[task.Dim-10] = corner, -40
		if got := task.Measure(x)[len(task.Metrics)-1]; got != want {
			t.Errorf("with a weight of %v in the corner the backdoor has %v, want %v", corner, got, want)
		}
	}
	x, grad := make([]float32, task.Dim), make([]float32, task.Dim)
	wrong, batch := backdoored(set), []int{0, 1, 2, 3, 4, 5, 6, 7}
	before := wrong.Loss(x, batch)
	if got := wrong.Gradient(grad, x, batch); math.Abs(got-before) > 1e-6 {
		t.Errorf("a loss of %v with its gradient, and of %v without", got, before)
	}
	if grad[0] >= 0 {
		t.Errorf("the gradient of the corner's weight is %v, want one that raises it", grad[0])
	}
	square := 0.0
	for i, g := range grad {
		x[i] -= 1e-3 * g
		square += float64(g) * float64(g)
	}
	fell := before - wrong.Loss(x, batch)
	if math.Abs(fell/(1e-3*square)-1) > 0.05 {
		t.Errorf("along its gradient the loss falls by %v, want %v", fell, 1e-3*square)
	}
}
