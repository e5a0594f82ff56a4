package demo

import (
	"context"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
)

// A device is one client and its connection.
type device struct {
	conn    *nats.Conn
	traffic *broker.Traffic
	client  *client.Client
	queries atomic.Uint64
}

// A loss evaluates the model on a device's share of the images, and on the test set.
type loss struct {
	train, test *softmax.Classifier
	batcher     *data.Batcher
	share       []int // its images in train
}

func lossOf(im *images, share []int) *loss {
	return &loss{im.train, im.test, data.NewBatcher(share), share}
}

func (l *loss) Dim() int     { return l.train.Dim() }
func (l *loss) Samples() int { return len(l.share) }

// Loss implements [objective.Flat].
func (l *loss) Loss(_ context.Context, x []float32, b objective.Batch) (float64, error) {
	return l.train.Loss(x, l.batcher.Pick(b.Size, b.Seed)), nil
}

// Evaluate implements [objective.Evaluator].
func (l *loss) Evaluate(_ context.Context, x []float32) ([]float64, int, error) {
	loss, accuracy := softmax.Evaluate(l.test, x, 1)
	return []float64{loss, accuracy}, l.test.Len(), nil
}

// ClassCounts implements [objective.Classed].
func (l *loss) ClassCounts() []int { return l.train.Labels(l.share) }

// ClassLosses implements [objective.Classed].
func (l *loss) ClassLosses(_ context.Context, x []float32, b objective.Batch, sums []float64,
	counts []int) error {
	l.train.SumByClass(x, l.batcher.Pick(b.Size, b.Seed), sums, counts)
	return nil
}
