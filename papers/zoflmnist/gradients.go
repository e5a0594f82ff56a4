package zoflmnist

import (
	"context"
	"fmt"
	"math"

	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
)

// Gradients asks what the noise of a run with own directions is made of, and whether directions of
// one layer each would have less of it. Gradients measures exact gradients, which no device sends.
func Gradients() lab.Experiment {
	return lab.Experiment{
		ID:    "zofl-mnist-gradients",
		Title: "what devices' gradients have in common on MNIST, and what directions by layer save",
		Paper: "none: the runs are those of zofl-mnist",
		Long:  "as a run of zofl-mnist, and a few seconds more for each measurement",
		Takes: []string{"rounds", "arm"},
		Do:    gradients,
	}
}

// measured is how many devices give gradients, and times how often they do in a run.
const (
	measured = 20
	times    = 20
)

func gradients(t *lab.Trial) error {
	e := *t.Env
	e.Tasks = []string{"i"}
	if e.Arms == nil && !e.Short {
		e.Arms = []string{"full"}
	} else if e.Arms == nil {
		e.Arms = []string{"zofl"} // full has queries of its own, which no short form lessens
	}
	list, err := leagues(&e)
	if err != nil {
		return err
	}
	s, err := e.MNIST()
	if err != nil {
		return err
	}
	l := &list[0]
	l.times = min(l.times, times)
	t.Report.Table.Columns = []string{"arm", "queries", "round", "accuracy", "rms |g|",
		"in common", "apart by tensor", "apart by layer"}
	for _, c := range l.arms {
		if err := l.gradientsOf(t.Ctx, t, s, c); err != nil {
			return err
		}
	}
	return nil
}

// gradientsOf trains an arm for seed 1, and adds a row for each measurement.
func (l *league) gradientsOf(ctx context.Context, t *lab.Trial, s *lab.Set,
	c contest.Method) error {
	one, err := l.contest(s).Enter(c, c.Steps[0])
	if err != nil {
		return err
	}
	shares, err := one.Shares(1)
	if err != nil {
		return err
	}
	_, layout := s.Task(!l.softmax)
	task := &one.Task
	task.Metrics = append(task.Metrics, "norm", "common", "tensors", "layers")
	loss := task.Measure
	task.Measure = func(x []float32) []float64 {
		n := noiseOf(layout, gradientsAt(task, x, shares[:min(measured, len(shares))]))
		return append(loss(x), n.norm, n.common, n.tensors, n.layers)
	}
	r, err := t.Env.TrainOne(ctx, t.Report.ID, one, 1)
	if r == nil {
		return err
	}
	for _, p := range r.Curve.Measured() {
		row := []any{c.Name, l.contributor(&p), p.Round}
		for _, metric := range append([]string{run.Accuracy}, task.Metrics[2:]...) {
			row = append(row, fmt.Sprintf("%.4f", r.Curve.At(metric, p.Round)))
		}
		t.Report.Table.Add(row...)
	}
	return err
}

// gradientsAt returns the gradients of the devices with these samples.
func gradientsAt(task *run.Task, x []float32, shares [][]int) (list [][]float32) {
	for _, samples := range shares {
		g := make([]float32, len(x))
		task.Gradient(g, x, samples)
		list = append(list, g)
	}
	return list
}

// A noise says how much of the devices' gradients is noise. An estimate by directions has in each
// element the variance |g|^2/n, for n directions of all elements and a device's gradient g.
type noise struct {
	norm   float64 // root of the mean |g|^2
	common float64 // |mean of all devices' g|^2 in parts of the mean |g|^2
	// tensors and layers are the variance, in parts of that with directions of all elements, if each
	// direction is of one tensor or one layer, and each has the number of directions that is best.
	tensors, layers float64
}

// noiseOf returns the noise of a sample of devices' gradients. Of a layout, each two segments are
// the weights and the biases of a layer.
func noiseOf(layout []plan.Segment, list [][]float32) noise {
	tensors := make([]part, len(layout))
	mean, devices := 0.0, float64(len(list))
	at := 0
	for i, s := range layout {
		tensors[i].len = float64(s.Len)
		for range s.Len {
			sum := 0.0
			for _, g := range list {
				v := float64(g[at])
				sum += v / devices
				tensors[i].square += v * v / devices
			}
			mean += sum * sum
			at++
		}
	}
	var layers []part
	for i, p := range tensors {
		if i%2 == 0 {
			layers = append(layers, part{})
		}
		layers[i/2].len += p.len
		layers[i/2].square += p.square
	}
	all := total(tensors)
	// The sample's mean has besides 1/devices of the variance between devices.
	common := (mean - all.square/devices) / (1 - 1/devices)
	return noise{norm: math.Sqrt(all.square), common: common / all.square,
		tensors: apart(tensors), layers: apart(layers)}
}

// A part is a part of the parameters: how many they are, and the mean square of their gradient.
type part struct{ len, square float64 }

func total(parts []part) (all part) {
	for _, p := range parts {
		all.len += p.len
		all.square += p.square
	}
	return all
}

// apart returns the least variance of directions that each are of one part, in parts of the
// variance of as many directions of all. With n_l directions a part has the variance
// len_l square_l/n_l, and the sum is least for n_l in proportion to the root of len_l square_l.
func apart(parts []part) float64 {
	roots := 0.0
	for _, p := range parts {
		roots += math.Sqrt(p.len * p.square)
	}
	all := total(parts)
	return roots * roots / (all.len * all.square)
}
