package papers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zofl/zofl/papers/adafl"
	"github.com/zofl/zofl/papers/beyond"
	"github.com/zofl/zofl/papers/byzantine"
	"github.com/zofl/zofl/papers/choose"
	"github.com/zofl/zofl/papers/cma"
	"github.com/zofl/zofl/papers/decomfl"
	"github.com/zofl/zofl/papers/device"
	"github.com/zofl/zofl/papers/eavesdrop"
	"github.com/zofl/zofl/papers/further"
	"github.com/zofl/zofl/papers/fzoos"
	"github.com/zofl/zofl/papers/heterogeneity"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/losses"
	"github.com/zofl/zofl/papers/mixed"
	"github.com/zofl/zofl/papers/overture"
	"github.com/zofl/zofl/papers/svrg"
	"github.com/zofl/zofl/papers/untouched"
	"github.com/zofl/zofl/papers/zofedht"
	"github.com/zofl/zofl/papers/zoflmnist"
)

// All lists the experiments.
func All() []lab.Experiment {
	return slices.Concat(
		decomfl.Experiments(),
		[]lab.Experiment{
			device.Lag(),
			device.Memory(),
			adafl.Experiment(),
			zofedht.Table1(),
			svrg.Experiment(),
			fzoos.Gamma(),
		},
		zofedht.Experiments(),
		[]lab.Experiment{
			heterogeneity.Experiment(),
			beyond.Experiment(),
			cma.Experiment(),
			zoflmnist.Experiment(),
			untouched.Experiment(),
			untouched.Directions(),
			untouched.LowRank(),
			untouched.Best(),
			untouched.Raw(),
			losses.Experiment(),
			overture.Experiment(),
			mixed.Experiment(),
			further.Experiment(),
			further.Finish(),
			further.Many(),
			zoflmnist.Gradients(),
			zoflmnist.Groups(),
			choose.Experiment(),
			byzantine.Experiment(),
			byzantine.Guards(),
			eavesdrop.Experiment(),
		},
		fzoos.Experiments(),
	)
}

// Find returns the experiment with an id.
func Find(id string) (*lab.Experiment, error) {
	var ids []string
	for _, e := range All() {
		if e.ID == id {
			return &e, nil
		}
		ids = append(ids, e.ID)
	}
	return nil, fmt.Errorf("there is no experiment %q: choose one of %s", id, strings.Join(ids, ", "))
}
