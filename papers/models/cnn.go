package models

import (
	"math"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/plan"
)

// A CNN is a convolutional network on a set of images, with the mean
// cross-entropy of its outputs, in nats: two convolutions, each with a rectifier
// and some with pooling, then one or two dense layers. Its parameters are one
// vector in the order of PyTorch's state_dict: of each layer the weights, then
// the biases. An image is classified by its largest output.
//
// A loss or gradient is NaN if an intermediate result is NaN.
type CNN struct {
	images *data.Images
	ink    [256]float32 // normalized pixels
	one    convolution
	two    convolution
	dense  dense
	dim    int

	forward   Shelf[workspace]
	gradients Shelf[workspace]
}

// NewCNNMNIST returns the CNN that DeComFL's published code trains on MNIST,
// 28,938 parameters for 28x28 pixels and 10 classes:
//
//	conv 5x5 1 -> 16, pad 2; relu; pool 2
//	conv 5x5 16 -> 32, pad 2; relu; pool 2
//	linear 1568 -> 10
//
// Images are normalized to (ink - mean) / std with ink from 0 to 1; see [data.MNISTMean] and
// [data.Images.Moments]. The CNN keeps im. NewCNNMNIST panics if std is not positive or the
// images are smaller than 4x4.
func NewCNNMNIST(im *data.Images, mean, std float64) *CNN {
	one := convolution{in: 1, out: 16, kernel: 5, pad: 2, pool: true}
	two := convolution{in: 16, out: 32, kernel: 5, pad: 2, pool: true}
	return newCNN(im, mean, std, one, two, im.Classes)
}

// NewCNNFashion returns the CNN that DeComFL's published code trains on
// Fashion-MNIST, 1,206,590 parameters for 28x28 pixels:
//
//	conv 3x3 1 -> 32; relu
//	conv 3x3 32 -> 64; relu; pool 2
//	linear 9216 -> 128; relu
//	linear 128 -> 62
//
// The CNN has 62 outputs for any number of classes, like the published CNN. Images are normalized
// as in [NewCNNMNIST]. NewCNNFashion panics if std is not positive, the images are smaller than
// 6x6, or there are more than 62 classes.
func NewCNNFashion(im *data.Images, mean, std float64) *CNN {
	one := convolution{in: 1, out: 32, kernel: 3}
	two := convolution{in: 32, out: 64, kernel: 3, pool: true}
	return newCNN(im, mean, std, one, two, 128, 62)
}

// NewCNNSmall returns a CNN that computes a loss with a quarter of the operations of
// [NewCNNMNIST]. Use the small CNN where a program evaluates a good classifier many times. The
// CNN has 11,274 parameters for 28x28 pixels and 10 classes:
//
//	conv 5x5 1 -> 8, pad 2; relu; pool 2
//	conv 5x5 8 -> 16, pad 2; relu; pool 2
//	linear 784 -> 10
func NewCNNSmall(im *data.Images, mean, std float64) *CNN {
	one := convolution{in: 1, out: 8, kernel: 5, pad: 2, pool: true}
	two := convolution{in: 8, out: 16, kernel: 5, pad: 2, pool: true}
	return newCNN(im, mean, std, one, two, im.Classes)
}

// newCNN assigns each layer its place in the parameter vector; outputs are the widths of the
// dense layers.
func newCNN(im *data.Images, mean, std float64, one, two convolution, outputs ...int) *CNN {
	m := &CNN{images: im, ink: softmax.Ink(mean, std), one: one, two: two}
	m.one.rows, m.one.cols = im.Rows, im.Cols
	m.two.rows, m.two.cols = m.one.after()
	rows, cols := m.two.after()
	if rows < 1 || cols < 1 {
		panic("models: images too small for this CNN")
	}
	if outputs[len(outputs)-1] < im.Classes {
		panic("models: more classes than this CNN has outputs")
	}
	m.two.weight = m.one.bias() + m.one.out
	m.dim = m.two.bias() + m.two.out
	in := m.two.out * rows * cols
	for _, out := range outputs {
		m.dense = append(m.dense, linear{in: in, out: out, weight: m.dim})
		m.dim += out * (in + 1)
		in = out
	}
	return m
}

// Dim returns the number of parameters.
func (m *CNN) Dim() int { return m.dim }

// Len returns the number of images.
func (m *CNN) Len() int { return m.images.Len() }

// Outputs returns the number of logits, which is at least the number of classes.
func (m *CNN) Outputs() int { return m.dense.outputs() }

// Segments returns the layers with PyTorch's default initialization: weights
// and biases uniform in +-1/sqrt(fan_in).
func (m *CNN) Segments() []plan.Segment {
	s := uniform(nil, "conv1", m.one.out*m.one.fan(), m.one.out, m.one.fan())
	s = uniform(s, "conv2", m.two.out*m.two.fan(), m.two.out, m.two.fan())
	for i, l := range m.dense {
		s = uniform(s, "fc"+string(rune('1'+i)), l.in*l.out, l.out, l.in)
	}
	return s
}

// uniform appends a layer's weights and biases.
func uniform(s []plan.Segment, name string, weights, biases, fan int) []plan.Segment {
	scale := float32(1 / math.Sqrt(float64(fan)))
	for _, part := range []struct {
		name string
		n    int
	}{{".weight", weights}, {".bias", biases}} {
		if part.n > 0 {
			s = append(s, plan.Segment{Name: name + part.name, Len: uint64(part.n),
				Fill: plan.UniformFill, Scale: scale})
		}
	}
	return s
}

// Loss returns the mean cross-entropy over the images named by batch. Loss allocates memory only
// when more goroutines call Loss at the same time than ever before.
func (m *CNN) Loss(params []float32, batch []int) float64 {
	loss, _ := softmax.Mean(m, params, batch)
	return loss
}

// Logits writes the outputs of the given images to dst, image after image. The caller gives
// pixels on the normalized scale, the input of the first layer: for pixels from -0.5 to 0.5, make
// the CNN with mean 0.5 and std 1. images holds Rows*Cols pixels for each image, and dst has room
// for [CNN.Outputs] values for each image. Logits panics if a length does not fit.
func (m *CNN) Logits(dst, params, images []float32) {
	size, outputs := m.images.Rows*m.images.Cols, m.Outputs()
	n := len(images) / size
	if len(images) != n*size || len(dst) != n*outputs || len(params) != m.dim {
		panic("models: Logits: the lengths of dst, params and images do not fit")
	}
	ws := m.forward.Take(m.newForward)
	defer m.forward.Put(ws)
	m.pack(ws, params)
	for at := 0; at < n; at += chunk {
		end := min(at+chunk, n)
		copy(ws.images, images[at*size:end*size])
		copy(dst[at*outputs:], m.run(ws, params, end-at))
	}
}

// Sum returns the sum of the cross-entropies over a minibatch, and the number of images in the
// minibatch that params classify correctly.
func (m *CNN) Sum(params []float32, batch []int) (loss float64, right int) {
	ws := m.forward.Take(m.newForward)
	defer m.forward.Put(ws)
	m.pack(ws, params)
	for len(batch) > 0 {
		n := min(len(batch), chunk)
		m.load(ws, batch[:n])
		logits := m.run(ws, params, n)
		for i, at := range batch[:n] {
			l, ok := crossEntropy(ws.logits, logits[i*m.Outputs():], m.images.Labels[at])
			loss += l
			if ok {
				right++
			}
		}
		batch = batch[n:]
	}
	return loss, right
}
