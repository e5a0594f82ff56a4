package softmax

import (
	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/plan"
)

// maxClasses bounds the logits that Loss keeps on its stack.
const maxClasses = 256

// A Classifier is multinomial logistic regression on a set of images:
//
//	logits = W image + b
//	loss   = mean over the minibatch of  log(sum exp logits) - logits[label]
//
// The parameters of a Classifier are one vector in PyTorch's order for a linear layer: the weights,
// Rows*Cols for each class, class after class, then a bias for each class. For MNIST there are
// 7,850 parameters. All methods only read the Classifier, so any number of goroutines may share
// one.
type Classifier struct {
	features, classes int
	images            []float32 // image after image, normalized
	labels            []uint8
}

// New returns a Classifier of the images, and normalizes them to (ink - mean) / std with ink from 0
// to 1; see [data.MNISTMean] and [data.Images.Moments]. For a test set, give the mean and std of
// its training set. The Classifier keeps im.Labels, and allocates 4 bytes for each pixel. New
// panics if std is not positive.
func New(im *data.Images, mean, std float64) *Classifier {
	s := &Classifier{
		features: im.Rows * im.Cols, classes: im.Classes,
		images: make([]float32, len(im.Pixels)), labels: im.Labels,
	}
	ink := Ink(mean, std)
	for i, p := range im.Pixels {
		s.images[i] = ink[p]
	}
	return s
}

// Dim returns the number of parameters: classes*(Rows*Cols + 1).
func (s *Classifier) Dim() int { return s.classes * (s.features + 1) }

// Segments returns the weights and the biases, all zero at first.
func (s *Classifier) Segments() []plan.Segment {
	return []plan.Segment{
		{Name: "weight", Len: uint64(s.classes * s.features)},
		{Name: "bias", Len: uint64(s.classes)},
	}
}

// Len returns the number of images.
func (s *Classifier) Len() int { return len(s.labels) }

// Loss returns the mean cross-entropy, in nats, over the images named by batch at the given
// parameters. Loss allocates nothing. Loss panics if params does not have Dim elements, or if batch
// is empty or names an image that does not exist.
func (s *Classifier) Loss(params []float32, batch []int) float64 {
	loss, _ := Mean(s, params, batch)
	return loss
}

// Sum returns the sum of the cross-entropies over a minibatch, and how many of its images the model
// classifies correctly.
func (s *Classifier) Sum(params []float32, batch []int) (loss float64, right int) {
	s.each(params, batch, func(_ int, l float64, ok bool) {
		loss += l
		if ok {
			right++
		}
	})
	return loss, right
}

// SumByClass adds the cross-entropy of each image of a minibatch to the element of sums for the
// image's label, and adds 1 to that element of counts. SumByClass panics as [Check] does, and if
// sums or counts do not have an element for each class.
func (s *Classifier) SumByClass(params []float32, batch []int, sums []float64, counts []int) {
	Check(s, params, batch)
	if len(sums) != s.classes || len(counts) != s.classes {
		panic("softmax: sums or counts of another number of classes")
	}
	s.each(params, batch, func(label int, l float64, _ bool) {
		sums[label] += l
		counts[label]++
	})
}

// Labels returns the number of images with each label among those named by batch.
func (s *Classifier) Labels(batch []int) (counts []int) {
	counts = make([]int, s.classes)
	for _, at := range batch {
		counts[s.labels[at]]++
	}
	return counts
}

// each calls add for each image of a minibatch, with its label, its cross-entropy, and whether the
// model classifies it correctly.
func (s *Classifier) each(params []float32, batch []int,
	add func(label int, loss float64, right bool)) {
	var logits [tileImages][maxClasses]float64
	for len(batch) > 0 {
		n := min(len(batch), tileImages)
		s.logits(&logits, params, batch[:n])
		for i, at := range batch[:n] {
			label := int(s.labels[at])
			l, ok := CrossEntropy(logits[i][:s.classes], label)
			add(label, l, ok)
		}
		batch = batch[n:]
	}
}

// Gradient returns the mean cross-entropy over the images named by batch, and adds the gradient of
// that mean to grad. grad must have Dim elements.
func (s *Classifier) Gradient(grad, params []float32, batch []int) (loss float64) {
	Check(s, params, batch)
	Check(s, grad, batch)
	var logits [tileImages][maxClasses]float64
	part := 1 / float64(len(batch))
	for i := range batch {
		s.logits(&logits, params, batch[i:i+1])
		row, label := logits[0][:s.classes], int(s.labels[batch[i]])
		l, _ := CrossEntropy(row, label)
		loss += l
		Probabilities(row)
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
