package models

import (
	"math"
	"slices"

	"github.com/zofl/zofl/testing/data"
	"github.com/zofl/zofl/wire"
)

// maxClasses bounds the logits that Loss keeps on its stack.
const maxClasses = 256

// A Softmax is multinomial logistic regression on a set of images:
//
//	logits = W image + b
//	loss   = mean over the minibatch of  log(sum exp logits) - logits[label]
//
// Its parameters are one vector in PyTorch's order for a linear layer: the
// weights, class after class, each Rows*Cols long, then a bias for each class;
// 7,850 for MNIST. All methods only read, so any number of goroutines may share
// one Softmax.
type Softmax struct {
	features, classes int
	images            []float32 // image after image, normalized
	labels            []uint8
}

// NewSoftmax normalizes the images once, to (ink - mean) / std with ink from 0
// to 1; see [data.MNISTMean] and [data.Images.Moments]. A test set takes the
// mean and std of its training set. It keeps im.Labels, and 4 bytes a pixel of
// its own. It panics if std is not positive.
func NewSoftmax(im *data.Images, mean, std float64) *Softmax {
	s := &Softmax{
		features: im.Rows * im.Cols, classes: im.Classes,
		images: make([]float32, len(im.Pixels)), labels: im.Labels,
	}
	ink := normalized(mean, std)
	for i, p := range im.Pixels {
		s.images[i] = ink[p]
	}
	return s
}

// Dim returns the number of parameters: classes*(Rows*Cols + 1).
func (s *Softmax) Dim() int { return s.classes * (s.features + 1) }

// Segments returns the weights and the biases, all zero at first.
func (s *Softmax) Segments() []wire.Segment {
	return []wire.Segment{
		{Name: "weight", Len: uint64(s.classes * s.features)},
		{Name: "bias", Len: uint64(s.classes)},
	}
}

// Len returns the number of images.
func (s *Softmax) Len() int { return len(s.labels) }

// Loss returns the mean cross-entropy, in nats, over the images named by batch
// at the given parameters. It allocates nothing. It panics if params is not Dim
// long or batch is empty or names an image that is not there.
func (s *Softmax) Loss(params []float32, batch []int) float64 {
	loss, _ := mean(s, params, batch)
	return loss
}

// Metrics returns the mean cross-entropy, as [Softmax.Loss] does, and the part
// of the images for which the label's logit is the largest.
func (s *Softmax) Metrics(params []float32, batch []int) (loss, accuracy float64) {
	return mean(s, params, batch)
}

// Evaluate returns loss and accuracy over all images, computed by the given
// number of goroutines, at least one. The result does not depend on it.
func (s *Softmax) Evaluate(params []float32, goroutines int) (loss, accuracy float64) {
	return evaluate(s, params, goroutines)
}

// sum returns the sum of the cross-entropies over a minibatch, and how many of
// its images are classified right.
func (s *Softmax) sum(params []float32, batch []int) (loss float64, right int) {
	var logits [tileImages][maxClasses]float64
	for len(batch) > 0 {
		n := min(len(batch), tileImages)
		s.logits(&logits, params, batch[:n])
		for i, at := range batch[:n] {
			l, ok := crossEntropy(logits[i][:s.classes], int(s.labels[at]))
			loss += l
			if ok {
				right++
			}
		}
		batch = batch[n:]
	}
	return loss, right
}

// Gradient returns the mean cross-entropy over the images named by batch, and
// adds its gradient to grad, which is Dim long.
func (s *Softmax) Gradient(grad, params []float32, batch []int) (loss float64) {
	check(s, params, batch)
	check(s, grad, batch)
	var logits [tileImages][maxClasses]float64
	part := 1 / float64(len(batch))
	for i := range batch {
		s.logits(&logits, params, batch[i:i+1])
		row, label := logits[0][:s.classes], int(s.labels[batch[i]])
		l, _ := crossEntropy(row, label)
		loss += l
		softmax(row)
		row[label]--
		x := s.image(batch[i])
		for c, d := range row {
			g := float32(part * d)
			weights := grad[c*s.features:][:len(x)]
			for k, v := range x {
				weights[k] += g * v
			}
			grad[s.classes*s.features+c] += g
		}
	}
	return loss * part
}

// softmax replaces logits by their probabilities.
func softmax(logits []float64) {
	most, sum := slices.Max(logits), 0.0
	for c, z := range logits {
		logits[c] = math.Exp(z - most)
		sum += logits[c]
	}
	for c := range logits {
		logits[c] /= sum
	}
}

// crossEntropy returns log(sum exp logits) - logits[label], by way of the
// largest logit so that nothing overflows, and whether label has that one. A
// tie goes to the lowest class.
func crossEntropy(logits []float64, label int) (loss float64, right bool) {
	top := 0
	for c, z := range logits {
		if z > logits[top] {
			top = c
		}
	}
	most := logits[top]
	var sum float64
	for _, z := range logits {
		sum += math.Exp(z - most)
	}
	return math.Log(sum) - (logits[label] - most), top == label
}
