package objective

import (
	"context"
	"fmt"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
)

// Images is the loss of a softmax classifier on a device's share of images.
type Images struct {
	train, test *softmax.Classifier
	share       []int // of the images in train
	batcher     *data.Batcher
}

// OfImages returns the loss on a share of the images in train. Evaluations use the images in test.
func OfImages(train, test *softmax.Classifier, share []int) *Images {
	return &Images{train, test, share, data.NewBatcher(share)}
}

// Dim implements [objective.Objective].
func (c *Images) Dim() int { return c.train.Dim() }

// Samples implements [objective.Objective].
func (c *Images) Samples() int { return len(c.share) }

// Loss implements [objective.Flat].
func (c *Images) Loss(_ context.Context, x []float32, b objective.Batch) (float64, error) {
	return c.train.Loss(x, c.batcher.Pick(b.Size, b.Seed)), nil
}

// ClassCounts implements [objective.Classed]: the classes are the labels.
func (c *Images) ClassCounts() []int { return c.train.Labels(c.share) }

// ClassLosses implements [objective.Classed].
func (c *Images) ClassLosses(_ context.Context, x []float32, b objective.Batch, sums []float64,
	counts []int) error {
	if has := len(c.ClassCounts()); len(sums) != has {
		return fmt.Errorf("the plan has %d classes, and the images have %d", len(sums), has)
	}
	c.train.SumByClass(x, c.batcher.Pick(b.Size, b.Seed), sums, counts)
	return nil
}

// Evaluate implements [objective.Evaluator] for plans whose metrics are loss and accuracy.
func (c *Images) Evaluate(_ context.Context, x []float32) ([]float64, int, error) {
	loss, accuracy := softmax.Evaluate(c.test, x, 1)
	return []float64{loss, accuracy}, c.test.Len(), nil
}
