package digits

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"sync"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
)

const (
	// Side of an image in pixels, and the number of classes.
	Side, Classes = 28, 10
	// Dim is the number of parameters: a weight for each pixel and class, and a bias for each class.
	Dim = Classes * (Side*Side + 1)

	built    = 300 // digits that the program draws for a device
	each     = 10  // a drawing counts as so many of those
	most     = 500 // drawings of a device
	tests    = 2000
	testSeed = 1 << 40 // as in zofl client: images are normalized by these, and devices must agree
)

// A Model is the objective of a device: the mean cross-entropy of a linear softmax classifier.
// Any goroutine may call Draw, Odds and Score. Only the client's goroutine may call the other
// methods.
type Model struct {
	mean, std float64
	test      *softmax.Classifier
	images    *data.Images // built in, then drawn

	mu    sync.Mutex // guards drawn
	drawn []drawing

	round uint64 // whose batches are drawn from set
	set   set
}

type drawing struct {
	image []uint8
	label uint8
}

// A set holds the samples of a round. The set does not change within a round, because all
// evaluations of a round have to use the same minibatch.
type set struct {
	model   *softmax.Classifier
	batcher *data.Batcher
	drawn   int
}

var (
	_ objective.Flat      = (*Model)(nil)
	_ objective.Sampler   = (*Model)(nil)
	_ objective.Evaluator = (*Model)(nil)
)

// New returns the model of the device id. Models of different ids have different built-in digits.
func New(id string) *Model {
	h := fnv.New64a()
	h.Write([]byte(id))
	test := data.Digits(tests, testSeed)
	m := &Model{images: data.Digits(built, h.Sum64())}
	m.mean, m.std = test.Moments()
	m.test = softmax.New(test, m.mean, m.std)
	m.adopt()
	return m
}

// Dim implements [objective.Objective].
func (m *Model) Dim() int { return Dim }

// Samples implements [objective.Sampler].
func (m *Model) Samples() int { return built + each*m.Drawn() }

// Drawn returns how many drawings there are.
func (m *Model) Drawn() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.drawn)
}

// Draw adds a drawing to the samples, from the next round on.
func (m *Model) Draw(image []uint8, label int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case len(image) != Side*Side:
		return fmt.Errorf("an image has %d pixels, want %d", len(image), Side*Side)
	case label < 0 || label >= Classes:
		return fmt.Errorf("label %d: give a digit", label)
	case len(m.drawn) == most:
		return fmt.Errorf("%d drawings are enough", most)
	}
	m.drawn = append(m.drawn, drawing{append([]uint8(nil), image...), uint8(label)})
	return nil
}

// adopt makes a new set with all drawings so far.
func (m *Model) adopt() {
	m.mu.Lock()
	news := m.drawn[m.set.drawn:]
	m.mu.Unlock()
	if m.set.model != nil && len(news) == 0 {
		return
	}
	for _, d := range news {
		m.images.Pixels = append(m.images.Pixels, d.image...)
		m.images.Labels = append(m.images.Labels, d.label)
	}
	var share []int
	for i := range m.images.Len() {
		for n := 0; n == 0 || i >= built && n < each; n++ {
			share = append(share, i)
		}
	}
	m.set = set{softmax.New(m.images, m.mean, m.std), data.NewBatcher(share),
		m.images.Len() - built}
}

// Loss implements [objective.Flat].
func (m *Model) Loss(_ context.Context, x []float32, b objective.Batch) (float64, error) {
	if b.N != m.round {
		m.round = b.N
		m.adopt()
	}
	return m.set.model.Loss(x, m.set.batcher.Pick(b.Size, b.Seed)), nil
}

// Evaluate implements [objective.Evaluator], for a plan whose metrics are loss and accuracy.
func (m *Model) Evaluate(_ context.Context, x []float32) ([]float64, int, error) {
	loss, accuracy := softmax.Evaluate(m.test, x, 1)
	return []float64{loss, accuracy}, m.test.Len(), nil
}

// Score returns the fraction of n digits that the parameters x classify right. No device learns
// from these digits.
func (m *Model) Score(x []float32, n int) float64 {
	batch := make([]int, min(n, m.test.Len()))
	for i := range batch {
		batch[i] = i
	}
	_, accuracy := softmax.Mean(m.test, x, batch)
	return accuracy
}

// Odds returns the probability of each digit for an image, by the parameters x.
func (m *Model) Odds(x []float32, image []uint8) (odds [Classes]float64, err error) {
	if len(image) != Side*Side || len(x) != Dim {
		return odds, errors.New("an image or a model of another size")
	}
	one := &data.Images{Rows: Side, Cols: Side, Classes: Classes}
	var batch []int
	for c := range Classes {
		one.Pixels = append(one.Pixels, image...)
		one.Labels = append(one.Labels, uint8(c))
		batch = append(batch, c)
	}
	// The cross-entropy of a label is the negative logarithm of its probability.
	softmax.New(one, m.mean, m.std).SumByClass(x, batch, odds[:], make([]int, Classes))
	for c, loss := range odds {
		odds[c] = math.Exp(-loss)
	}
	return odds, nil
}
