// Package objective has the losses that `zofl client` has built in, to try a run before there is
// an app.
package objective

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/plan"
)

// makers are the built-in objectives by name.
var makers = map[string]func(id string, dim int) (objective.Flat, error){
	"bowl":   bowl,
	"digits": digits,
	"none":   none,
}

// Names lists the built-in objectives.
func Names() []string { return slices.Sorted(maps.Keys(makers)) }

// New returns the objective with a name, for the device id. dim is its number of parameters, if
// the objective allows any number; 0 leaves it to the objective.
func New(name, id string, dim int) (objective.Flat, error) {
	maker, ok := makers[name]
	if !ok {
		return nil, cli.Usage(fmt.Errorf("--objective %s: choose one of %s", name,
			strings.Join(Names(), ", ")))
	}
	return maker(id, dim)
}

// seed returns a number that differs by device.
func seed(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

// bowl returns the mean of (x_i - t_i)^2, where t differs by device.
func bowl(id string, dim int) (objective.Flat, error) {
	if dim < 1 {
		return nil, &plan.Error{Field: "dim", Value: dim, Remedy: "give the dim of the plan"}
	}
	shift := float64(seed(id)%1000) / 1000
	return objective.Func(dim, func(_ context.Context, x []float32,
		_ objective.Batch) (float64, error) {
		sum := 0.0
		for i, v := range x {
			e := float64(v) - shift - float64(i%7)
			sum += e * e
		}
		return sum / float64(len(x)), nil
	}), nil
}

// Sizes of the set of digits that each device draws for itself, and of the test set that is the
// same for all.
const (
	trainDigits = 600
	testDigits  = 2000
	testSeed    = 1 << 40

	digitClasses = 10
)

// A classifier is a softmax classifier of digits that the device draws.
type classifier struct {
	train, test *softmax.Classifier
	all         []int // indices of train
	batcher     *data.Batcher
}

func digits(id string, dim int) (objective.Flat, error) {
	train, test := data.Digits(trainDigits, seed(id)), data.Digits(testDigits, testSeed)
	mean, std := test.Moments() // the same for all devices
	all := make([]int, trainDigits)
	for i := range all {
		all[i] = i
	}
	c := &classifier{softmax.New(train, mean, std), softmax.New(test, mean, std),
		all, data.NewBatcher(all)}
	if dim != 0 && dim != c.Dim() {
		return nil, &plan.Error{Field: "dim", Value: dim,
			Remedy: fmt.Sprintf("the digits have %d parameters: leave it out, "+
				"or name another --objective", c.Dim())}
	}
	return c, nil
}

func (c *classifier) Dim() int     { return c.train.Dim() }
func (c *classifier) Samples() int { return trainDigits }

// Loss implements [objective.Flat].
func (c *classifier) Loss(_ context.Context, x []float32, b objective.Batch) (float64, error) {
	return c.train.Loss(x, c.batcher.Pick(b.Size, b.Seed)), nil
}

// ClassCounts implements [objective.Classed]: its classes are the digits.
func (c *classifier) ClassCounts() []int { return c.train.Labels(c.all) }

// ClassLosses implements [objective.Classed].
func (c *classifier) ClassLosses(_ context.Context, x []float32, b objective.Batch, sums []float64,
	counts []int) error {
	if len(sums) != digitClasses {
		return fmt.Errorf("the plan has %d classes, and there are %d digits", len(sums), digitClasses)
	}
	c.train.SumByClass(x, c.batcher.Pick(b.Size, b.Seed), sums, counts)
	return nil
}

// Evaluate implements [objective.Evaluator] for plans whose metrics are loss and accuracy.
func (c *classifier) Evaluate(_ context.Context, x []float32) ([]float64, int, error) {
	loss, accuracy := softmax.Evaluate(c.test, x, 1)
	return []float64{loss, accuracy}, c.test.Len(), nil
}
