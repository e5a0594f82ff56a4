package models

import (
	"math"
	"sync"

	"github.com/zofl/zofl/testing/data"
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
	if !(std > 0) {
		panic("models: NewSoftmax needs a positive std")
	}
	s := &Softmax{
		features: im.Rows * im.Cols, classes: im.Classes,
		images: make([]float32, len(im.Pixels)), labels: im.Labels,
	}
	var normalized [256]float32
	for p := range normalized {
		normalized[p] = float32((float64(p)/255 - mean) / std)
	}
	for i, p := range im.Pixels {
		s.images[i] = normalized[p]
	}
	return s
}

// Dim returns the number of parameters: classes*(Rows*Cols + 1).
func (s *Softmax) Dim() int { return s.classes * (s.features + 1) }

// Len returns the number of images.
func (s *Softmax) Len() int { return len(s.labels) }

// Loss returns the mean cross-entropy, in nats, over the images named by batch
// at the given parameters. It allocates nothing. It panics if params is not Dim
// long or batch is empty or names an image that is not there.
func (s *Softmax) Loss(params []float32, batch []int) float64 {
	loss, _ := s.sum(params, batch)
	return loss / float64(len(batch))
}

// Metrics returns the mean cross-entropy, as [Softmax.Loss] does, and the part
// of the images for which the label's logit is the largest.
func (s *Softmax) Metrics(params []float32, batch []int) (loss, accuracy float64) {
	loss, right := s.sum(params, batch)
	n := float64(len(batch))
	return loss / n, float64(right) / n
}

// Evaluate returns loss and accuracy over all images, computed by the given
// number of goroutines, at least one. The result does not depend on it.
func (s *Softmax) Evaluate(params []float32, goroutines int) (loss, accuracy float64) {
	const span = 256 // images a partial sum
	type part struct {
		loss  float64
		right int
	}
	parts := make([]part, (s.Len()+span-1)/span)
	var wg sync.WaitGroup
	workers := max(goroutines, 1)
	for w := range workers {
		wg.Go(func() {
			batch := make([]int, span)
			for p := w; p < len(parts); p += workers {
				n := min(span, s.Len()-p*span)
				for i := range n {
					batch[i] = p*span + i
				}
				parts[p].loss, parts[p].right = s.sum(params, batch[:n])
			}
		})
	}
	wg.Wait()
	right := 0
	for _, p := range parts {
		loss += p.loss
		right += p.right
	}
	n := float64(s.Len())
	return loss / n, float64(right) / n
}

// sum returns the sum of the cross-entropies over a minibatch, and how many of
// its images are classified right.
func (s *Softmax) sum(params []float32, batch []int) (loss float64, right int) {
	if len(params) != s.Dim() {
		panic("models: the parameters have another dimension than the model")
	}
	if len(batch) == 0 {
		panic("models: empty minibatch")
	}
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
