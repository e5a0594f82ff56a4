// Package objective has the built-in losses of `zofl client`, with which people can try a run
// before they have an app.
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

// New returns the objective with a name, for the device id. dim is the number of parameters, if the
// objective allows any number. With dim 0 the objective decides.
func New(name, id string, dim int) (objective.Flat, error) {
	maker, ok := makers[name]
	if !ok {
		return nil, cli.Usage(fmt.Errorf("--objective %s: choose one of %s", name,
			strings.Join(Names(), ", ")))
	}
	if dim < 1 && name != "digits" { // digits knows its number of parameters
		return nil, &plan.Error{Field: "dim", Value: dim, Remedy: "give the dim of the plan"}
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

// trainDigits is the number of digits that each device draws for itself. testDigits is the size of
// the test set, which is the same for all devices.
const (
	trainDigits = 600
	testDigits  = 2000
	testSeed    = 1 << 40
)

func digits(id string, dim int) (objective.Flat, error) {
	train, test := data.Digits(trainDigits, seed(id)), data.Digits(testDigits, testSeed)
	mean, std := test.Moments() // the same for all devices
	all := make([]int, trainDigits)
	for i := range all {
		all[i] = i
	}
	c := OfImages(softmax.New(train, mean, std), softmax.New(test, mean, std), all)
	if dim != 0 && dim != c.Dim() {
		return nil, &plan.Error{Field: "dim", Value: dim,
			Remedy: fmt.Sprintf("the digits have %d parameters: leave it out, "+
				"or name another --objective", c.Dim())}
	}
	return c, nil
}
