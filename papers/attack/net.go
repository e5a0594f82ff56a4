package attack

import (
	"math"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/plan"
)

// With 4 and 8 channels, the accuracy of the network stays below 98.5 % on MNIST.
const (
	channelsOne = 6
	channelsTwo = 12
)

// chunk is the number of images that the network processes at a time.
const chunk = 32

// A Net is the classifier that an experiment attacks, a CNN small enough to be evaluated millions
// of times:
//
//	conv 5x5 1 -> 6, stride 2, pad 2; relu
//	conv 5x5 6 -> 12, stride 2, pad 2; relu
//	linear 588 -> 10
//
// for 28x28 pixels and 10 classes, with 7,858 parameters. Because the Net uses strides instead of
// pooling, a loss takes a sixth of the operations of [models.NewCNNSmall]. Pixels are from -0.5
// to 0.5. Any number of goroutines may use one Net.
type Net struct {
	images   *data.Images
	one, two layer
	dense    int // offset of the weights [class][feature], and then the biases
	dim      int
	spaces   models.Shelf[workspace]
}

// New returns a network for the images im. The network keeps im. New panics unless the images are
// squares whose side is a multiple of 4.
func New(im *data.Images) *Net {
	if im.Rows != im.Cols || im.Rows%4 != 0 || im.Rows == 0 {
		panic("attack: the images are not squares with a side that is a multiple of 4")
	}
	m := &Net{images: im}
	m.one = newLayer(1, channelsOne, im.Rows/2, 0)
	m.two = newLayer(channelsOne, channelsTwo, im.Rows/4, m.one.end())
	m.dense = m.two.end()
	m.dim = m.dense + im.Classes*(m.features()+1)
	return m
}

// features is the number of inputs of the dense layer.
func (m *Net) features() int { return m.two.output(1) }

// Dim returns the number of parameters.
func (m *Net) Dim() int { return m.dim }

// Len returns the number of images.
func (m *Net) Len() int { return m.images.Len() }

// Segments returns the layers, uniform in +-1/sqrt(fan_in).
func (m *Net) Segments() (s []plan.Segment) {
	for _, l := range []struct {
		name     string
		len, fan int
	}{
		{"conv1", m.two.weight, taps},
		{"conv2", m.dense - m.two.weight, channelsOne * taps},
		{"fc", m.dim - m.dense, m.features()},
	} {
		s = append(s, plan.Segment{Name: l.name, Len: uint64(l.len), Fill: plan.UniformFill,
			Scale: float32(1 / math.Sqrt(float64(l.fan)))})
	}
	return s
}

// Loss returns the mean cross-entropy over a minibatch.
func (m *Net) Loss(params []float32, batch []int) float64 {
	loss, _ := softmax.Mean(m, params, batch)
	return loss
}

// Right returns the images of a class that params classify correctly, in order.
func (m *Net) Right(params []float32, class uint8) (list []int) {
	for i, label := range m.images.Labels {
		if label != class {
			continue
		}
		if _, right := m.Sum(params, []int{i}); right == 1 {
			list = append(list, i)
		}
	}
	return list
}

var _ models.Differentiable = (*Net)(nil)
