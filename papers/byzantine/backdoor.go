package byzantine

import (
	"slices"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
)

// Success is the metric of a backdoor: the part of the marked test images of other classes that
// the model takes for the backdoor's class.
const Success = "backdoor"

// marked returns the images with a pixel of ink in each corner, and the backdoor's class, 0, as
// their label. Without all, images of that class are left out.
func marked(im *data.Images, all bool) *data.Images {
	m := &data.Images{Rows: im.Rows, Cols: im.Cols, Classes: im.Classes}
	for i, label := range im.Labels {
		if label == 0 && !all {
			continue
		}
		pixels := slices.Clone(im.At(i))
		for _, corner := range []int{0, im.Cols - 1, (im.Rows - 1) * im.Cols, im.Rows*im.Cols - 1} {
			pixels[corner] = 255
		}
		m.Pixels, m.Labels = append(m.Pixels, pixels...), append(m.Labels, 0)
	}
	return m
}

// backdoored returns a task in which every image of a minibatch counts twice, as it is and marked.
func backdoored(set *lab.Set) run.Task {
	t, _ := set.Task(false)
	clean := t
	mark := softmax.New(marked(set.Train, true), set.Mean, set.Std)
	t.Loss = func(params []float32, batch []int) float64 {
		return clean.Loss(params, batch)/2 + mark.Loss(params, batch)/2
	}
	t.Gradient = func(grad, params []float32, batch []int) float64 {
		both := make([]float32, len(grad))
		loss := clean.Gradient(both, params, batch)/2 + mark.Gradient(both, params, batch)/2
		for i, g := range both {
			grad[i] += g / 2
		}
		return loss
	}
	return t
}

// measured returns a task that also measures Success.
func measured(t run.Task, set *lab.Set) run.Task {
	test := softmax.New(marked(set.Test, false), set.Mean, set.Std)
	measure := t.Measure
	t.Metrics = append(slices.Clone(t.Metrics), Success)
	t.Measure = func(params []float32) []float64 {
		_, success := softmax.Evaluate(test, params, 2)
		return append(measure(params), success)
	}
	return t
}
