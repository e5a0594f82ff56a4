package losses

import (
	"math"

	"github.com/zofl/zofl/coordinator/zofl/data"
)

// digits are generated images of digits, 7x7 pixels, with ink from 0 to 1.
type digits struct {
	ink    [][]float32
	labels []uint8
}

func digitsOf(seed uint64, n int) *digits {
	const side, shrink = 7, 4
	images := data.Digits(n, seed)
	d := &digits{labels: images.Labels}
	for i := range n {
		ink := make([]float32, side*side)
		for at, v := range images.At(i) {
			row, col := at/images.Cols/shrink, at%images.Cols/shrink
			ink[row*side+col] += float32(v) / 255 / (shrink * shrink)
		}
		d.ink = append(d.ink, ink)
	}
	return d
}

// A net has dense layers in the order of a plan's layers. widths are the widths of the inputs, of
// the hidden layers and of the outputs.
type net struct {
	widths []int
	bend   func(float32) float32 // what the outputs of hidden layers go through
}

// dense returns a layer's outputs, and the parameters of the layers after it.
func dense(x, in []float32, out int) (outputs, rest []float32) {
	outputs = make([]float32, out)
	biases := x[out*len(in):]
	for o := range outputs {
		sum := biases[o]
		for i, w := range x[o*len(in) : (o+1)*len(in)] {
			sum += w * in[i]
		}
		outputs[o] = sum
	}
	return outputs, biases[out:]
}

// outputs returns the outputs of the last layer.
func (n *net) outputs(x, in []float32) []float32 {
	for k, width := range n.widths[1:] {
		in, x = dense(x, in, width)
		if k < len(n.widths)-2 {
			each(in, n.bend)
		}
	}
	return in
}

func each(v []float32, f func(float32) float32) {
	for i := range v {
		v[i] = f(v[i])
	}
}

func relu(v float32) float32 { return max(v, 0) }

func tanh(v float32) float32 { return float32(math.Tanh(float64(v))) }

func networks() []task {
	d := digitsOf(31, 2000)
	classify := func(name, what, layers string, devices int, n net) task {
		return task{name: name, what: what, layers: layers, devices: devices, samples: len(d.ink),
			loss: mean(func(x []float32, i int) float64 {
				return entropy(wide(n.outputs(x, d.ink[i])), int(d.labels[i]))
			})}
	}
	skewed := classify("layers-2-skewed", "a network of two layers on digits, Dirichlet 0.3",
		"relu:49x24,24x10", 5, net{[]int{49, 24, 10}, relu})
	skewed.labels = d.labels
	code := net{[]int{49, 8, 49}, tanh}
	return []task{
		classify("layers-2", "a network of two layers on digits", "relu:49x24,24x10", 5,
			net{[]int{49, 24, 10}, relu}),
		skewed,
		classify("layers-4", "a network of four narrow layers", "relu:49x12,12x12,12x12,12x10", 5,
			net{[]int{49, 12, 12, 12, 10}, relu}),
		classify("layers-6", "a network of six narrow layers",
			"tanh:49x12,12x12,12x12,12x12,12x12,12x10", 5, net{[]int{49, 12, 12, 12, 12, 12, 10}, tanh}),
		convolutions(d),
		{name: "autoencoder", what: "digits through 8 units", layers: "tanh:49x8,8x49", devices: 5,
			samples: len(d.ink), loss: mean(func(x []float32, i int) float64 {
				sum := 0.0
				for j, v := range code.outputs(x, d.ink[i]) {
					sum += square(float64(v), float64(d.ink[i][j]))
				}
				return sum
			})},
	}
}

// convolutions is a network of two convolutions of 3x3, with 8 filters each, and a layer.
func convolutions(d *digits) task {
	const filters, classes = 8, 10
	return task{name: "convolutions", what: "a network of two convolutions and a layer",
		layers: "relu:9x8,72x8,72x10", devices: 5, samples: len(d.ink),
		loss: mean(func(x []float32, i int) float64 {
			planes, x := convolve(x, d.ink[i], 7, 1, filters)
			planes, x = convolve(x, planes, 5, filters, filters)
			scores, _ := dense(x, planes, classes)
			return entropy(wide(scores), int(d.labels[i]))
		})}
}

// convolve returns the outputs of 3x3 filters with relu on a square input, without padding, and
// the parameters after the filters. The values of all planes at one position are adjacent.
func convolve(x, in []float32, side, planes, filters int) (out, rest []float32) {
	var patch []float32
	for row := range side - 2 {
		for col := range side - 2 {
			patch = patch[:0]
			for at := range 9 {
				from := ((row+at/3)*side + col + at%3) * planes
				patch = append(patch, in[from:from+planes]...)
			}
			var values []float32
			values, rest = dense(x, patch, filters)
			out = append(out, values...)
		}
	}
	each(out, relu)
	return out, rest
}

func wide(v []float32) []float64 {
	w := make([]float64, len(v))
	for i, e := range v {
		w[i] = float64(e)
	}
	return w
}
