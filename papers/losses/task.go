package losses

import (
	"math/rand/v2"
	"slices"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// A task is a loss that a fleet minimizes. The seed of the task's name determines all data of the
// task, which are the same for all seeds of a run.
type task struct {
	name, what string
	layers     string         // as for zofl plan --segments
	segments   []plan.Segment // where no layers say them; nil: all parameters start at zero
	dim        int            // where neither does
	devices    int
	labels     []uint8 // of the samples: dealt by Dirichlet 0.3; nil: dealt IID
	samples    int
	loss       func(x []float32, samples []int) float64
}

// mean returns the mean over samples of a loss that is given for single samples.
func mean(of func(x []float32, i int) float64) func([]float32, []int) float64 {
	return func(x []float32, samples []int) float64 {
		sum := 0.0
		for _, i := range samples {
			sum += of(x, i)
		}
		return sum / float64(len(samples))
	}
}

// allTasks returns the tasks of all kinds. We chose no constant of the library by these tasks
// alone.
func allTasks() []task {
	return slices.Concat(regressions(), classifiers(), controllers(), simulations(), networks(),
		others())
}

// ready fills in the values that layers and segments determine.
func (t *task) ready() error {
	if t.layers != "" {
		segments, err := planfile.Layers(t.layers)
		if err != nil {
			return err
		}
		t.segments = segments
	}
	if t.segments != nil {
		t.dim = 0
		for _, s := range t.segments {
			t.dim += int(s.Len)
		}
	}
	return nil
}

// deal deals the samples to the devices.
func (t *task) deal(seed uint64) ([][]int, error) {
	if t.labels != nil {
		return data.Dirichlet(t.labels, t.devices, 0.3, seed)
	}
	return data.IID(t.samples, t.devices, seed)
}

// everything is the name of the metric: the loss of all samples.
const everything = "loss of all samples"

// task returns the task as the devices get it. The metric is the loss of all samples, because the
// experiment asks how far the loss falls.
func (t *task) task() run.Task {
	all := make([]int, t.samples)
	for i := range all {
		all[i] = i
	}
	return run.Task{Dim: t.dim, Loss: t.loss, Metrics: []string{everything},
		Measure: func(x []float32) []float64 { return []float64{t.loss(x, all)} }}
}

// source returns the random numbers of a task's data.
func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 16)) }

// normal returns standard normal numbers.
func normal(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}
