package attack

import (
	"github.com/zofl/zofl/mathx"
)

// Kernels are 5x5 with stride 2, and images have a border of 2 zeros.
const (
	kernel = 5
	taps   = kernel * kernel
	border = 2
)

// A layer is a convolution, which halves the side of its input, and a rectifier. Its
// weights are [out][in][kernel][kernel], followed by a bias for each output channel.
//
// Arrays have the images innermost. An output is [channel][row][column][image]. An input is
// split by the parity of rows and columns, border included: [channel][row parity][column
// parity][row/2][column/2][image]. So the elements that one weight of a kernel multiplies
// in a row of all images are contiguous, whatever the stride.
type layer struct {
	in, out int // channels
	side    int // of the output
	weight  int // offset of the weights in the parameters
	offsets []int
}

func newLayer(in, out, side, weight int) layer {
	l := layer{in: in, out: out, side: side, weight: weight}
	for c := range in {
		for tap := range taps {
			y, x := tap/kernel, tap%kernel
			plane := (c*2+y%2)*2 + x%2
			l.offsets = append(l.offsets, (plane*l.half()+y/2)*l.half()+x/2)
		}
	}
	return l
}

// half returns the side of the planes into which the layout splits an input channel.
func (l *layer) half() int { return l.side + border }

// bias returns the offset of the biases in the parameters.
func (l *layer) bias() int { return l.weight + l.out*l.in*taps }

func (l *layer) end() int { return l.bias() + l.out }

// input and output return the lengths of the arrays for n images.
func (l *layer) input(n int) int  { return l.in * 4 * l.half() * l.half() * n }
func (l *layer) output(n int) int { return l.out * l.side * l.side * n }

// forward computes dst, the outputs for n images before the rectifier.
func (l *layer) forward(dst, input, params []float32, n int) {
	row := l.side * n
	for o, b := range params[l.bias():l.end()] {
		weights := params[l.weight+o*l.in*taps:][:l.in*taps]
		for y := range l.side {
			d := dst[(o*l.side+y)*row:][:row]
			fill(d, b)
			for i, w := range weights {
				from := (l.offsets[i] + y*l.half()) * n
				mathx.Axpy(d, w, input[from:from+row])
			}
		}
	}
}

// backward takes dOut, the gradient with respect to the result of forward. backward adds the
// gradient with respect to the parameters to grad. Unless dInput is nil, backward adds the
// gradient with respect to the input to dInput.
func (l *layer) backward(grad, dInput, dOut, input, params []float32, n int) {
	row := l.side * n
	for o := range l.out {
		first := l.weight + o*l.in*taps
		for y := range l.side {
			d := dOut[(o*l.side+y)*row:][:row]
			grad[l.bias()+o] += sum(d)
			for i, offset := range l.offsets {
				from := (offset + y*l.half()) * n
				grad[first+i] += dot(d, input[from:from+row])
				if dInput != nil {
					mathx.Axpy(dInput[from:from+row], params[first+i], d)
				}
			}
		}
	}
}

// place returns the index in the input of the images' pixels at row y and column x of
// channel c.
func (l *layer) place(c, y, x, n int) int {
	y, x = y+border, x+border
	plane := (c*2+y%2)*2 + x%2
	return ((plane*l.half()+y/2)*l.half() + x/2) * n
}

// rectify applies the rectifier to src, the result of the layer before, and writes max(src, 0) to
// the input.
func (l *layer) rectify(input, src []float32, n int) {
	for c := range l.in {
		for y := range 2 * l.side {
			for x := range 2 * l.side {
				to := input[l.place(c, y, x, n):][:n]
				for i, v := range src[:n] {
					to[i] = max(v, 0)
				}
				src = src[n:]
			}
		}
	}
}

// deactivate is the backward pass of rectify: it computes dSrc from dInput.
func (l *layer) deactivate(dSrc, dInput, input []float32, n int) {
	for c := range l.in {
		for y := range 2 * l.side {
			for x := range 2 * l.side {
				at := l.place(c, y, x, n)
				pass(dSrc[:n], dInput[at:at+n], input[at:at+n])
				dSrc = dSrc[n:]
			}
		}
	}
}

// pass sets dst to src where the output of the rectifier is positive, otherwise to 0.
func pass(dst, src, output []float32) {
	for i, v := range output {
		if v > 0 {
			dst[i] = src[i]
		} else {
			dst[i] = 0
		}
	}
}

func fill(dst []float32, v float32) {
	for i := range dst {
		dst[i] = v
	}
}

func sum(x []float32) (s float32) {
	for _, v := range x {
		s += v
	}
	return s
}

// dot returns the inner product of x and y. The four partial sums are independent, so that the
// processor computes them in parallel.
func dot(x, y []float32) float32 {
	var a, b, c, d float32
	y = y[:len(x)]
	for len(x) >= 4 && len(y) >= 4 {
		a += float32(x[0] * y[0])
		b += float32(x[1] * y[1])
		c += float32(x[2] * y[2])
		d += float32(x[3] * y[3])
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		a += float32(v * y[i])
	}
	return (a + b) + (c + d)
}
