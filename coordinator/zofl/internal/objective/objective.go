// Package objective has the losses that `zofl client` can compute by itself, so
// that a run can be tried, watched and tested before any app exists.
package objective

import (
	"context"
	"fmt"
	"hash/fnv"
	"sort"
	"strings"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/wire"
)

// makers are the built-in objectives by name.
var makers = map[string]func(id string, dim int) (objective.Flat, error){
	"bowl":   bowl,
	"digits": digits,
}

// Names lists the built-in objectives.
func Names() string {
	var names []string
	for name := range makers {
		names = append(names, name)
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}

// New returns a device's objective. dim is the number of parameters, for one
// that has any number of them.
func New(name, id string, dim int) (objective.Flat, error) {
	maker, ok := makers[name]
	if !ok {
		return nil, &wire.PlanError{Field: "objective", Value: name, Remedy: "choose one of " + Names()}
	}
	return maker(id, dim)
}

// seed is a device's own number.
func seed(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

// bowl is the mean of (x_i - t_i)^2; t differs by device.
func bowl(id string, dim int) (objective.Flat, error) {
	if dim < 1 {
		return nil, &wire.PlanError{Field: "dim", Value: dim, Remedy: "give the plan's number of parameters"}
	}
	shift := float64(seed(id)%1000) / 1000
	return objective.Func(dim, func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
		sum := 0.0
		for i, v := range x {
			e := float64(v) - shift - float64(i%7)
			sum += e * e
		}
		return sum / float64(len(x)), nil
	}), nil
}

// Sizes of a device's own set of drawn digits, and of the one that all
// evaluate on.
const (
	trainDigits = 600
	testDigits  = 2000
	testSeed    = 1 << 40
)

// classifier is a softmax of drawn digits, each device's its own.
type classifier struct {
	train, test *softmax.Classifier
	batcher     *data.Batcher
}

func digits(id string, dim int) (objective.Flat, error) {
	train, test := data.Digits(trainDigits, seed(id)), data.Digits(testDigits, testSeed)
	mean, std := test.Moments() // the same for all devices
	all := make([]int, trainDigits)
	for i := range all {
		all[i] = i
	}
	c := &classifier{softmax.New(train, mean, std), softmax.New(test, mean, std), data.NewBatcher(all)}
	if dim != 0 && dim != c.Dim() {
		return nil, &wire.PlanError{Field: "dim", Value: dim, Remedy: fmt.Sprintf("the classifier has %d parameters: leave it", c.Dim())}
	}
	return c, nil
}

func (c *classifier) Dim() int     { return c.train.Dim() }
func (c *classifier) Samples() int { return trainDigits }

// Loss implements [objective.Flat].
func (c *classifier) Loss(_ context.Context, x []float32, b objective.Batch) (float64, error) {
	return c.train.Loss(x, c.batcher.Pick(b.Size, b.Seed)), nil
}

// Evaluate implements [objective.Evaluator], for plans whose metrics are loss and
// accuracy.
func (c *classifier) Evaluate(_ context.Context, x []float32) ([]float64, int, error) {
	loss, accuracy := c.test.Evaluate(x, 1)
	return []float64{loss, accuracy}, c.test.Len(), nil
}
