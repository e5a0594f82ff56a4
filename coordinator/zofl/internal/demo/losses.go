package demo

import (
	"fmt"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/plan"
)

// Losses returns the losses of the demo's devices for a model of dim parameters. To fit dim, Losses
// takes the whole images, or shrinks them to a half or a quarter of the rows and columns. Of cfg it
// uses the number of devices, the data, the split and the seed.
func Losses(cfg Config, dim uint64) ([]objective.Objective, error) {
	if cfg.Clients < 1 {
		return nil, cli.Usage(fmt.Errorf("--devices %d: give 1 or more", cfg.Clients))
	}
	if err := checkSplit(cfg.Split); err != nil {
		return nil, err
	}
	for _, shrink := range []int{1, 2, 4} {
		if classifierDim(shrink) != dim {
			continue
		}
		images, err := load(cfg, shrink)
		if err != nil {
			return nil, err
		}
		var list []objective.Objective
		for _, share := range images.shares {
			list = append(list, images.loss(share))
		}
		return list, nil
	}
	return nil, &plan.Error{Field: "dim", Value: dim, Remedy: fmt.Sprintf(
		"the classifier of digits has %d parameters, or %d and %d with smaller images: make the plan "+
			"with one of these, or give --objective bowl", classifierDim(1), classifierDim(2),
		classifierDim(4))}
}
