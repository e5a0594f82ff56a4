package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zofl/zofl/testing/paper/adafl"
	"github.com/zofl/zofl/testing/paper/beyond"
	"github.com/zofl/zofl/testing/paper/byzantine"
	"github.com/zofl/zofl/testing/paper/decomfl"
	"github.com/zofl/zofl/testing/paper/device"
	"github.com/zofl/zofl/testing/paper/eavesdrop"
	"github.com/zofl/zofl/testing/paper/further"
	"github.com/zofl/zofl/testing/paper/fzoos"
	"github.com/zofl/zofl/testing/paper/heterogeneity"
	"github.com/zofl/zofl/testing/paper/lab"
	"github.com/zofl/zofl/testing/paper/losses"
	"github.com/zofl/zofl/testing/paper/mixed"
	"github.com/zofl/zofl/testing/paper/svrg"
	"github.com/zofl/zofl/testing/paper/untouched"
	"github.com/zofl/zofl/testing/paper/zofedht"
	"github.com/zofl/zofl/testing/paper/zoflmnist"
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
			zoflmnist.Experiment(),
			untouched.Experiment(),
			untouched.Directions(),
			losses.Experiment(),
			mixed.Experiment(),
			further.Experiment(),
			further.Finish(),
			zoflmnist.Groups(),
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
