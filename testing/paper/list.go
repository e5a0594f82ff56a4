package paper

import (
	"strings"

	"github.com/zofl/zofl/testing/paper/lab"
	"github.com/zofl/zofl/wire"
)

// All lists the experiments.
func All() []lab.Experiment {
	list := []lab.Experiment{decomflMNIST()}
	list = append(list, decomflVariants()...)
	list = append(list, decomflGrid(), decomflProjection(), decomflFedAvg(), decomflFashion(),
		decomflLag(), decomflMemory(), attackExperiment(), zofedhtTable1(), zoSVRG(),
		fzoosGamma())
	list = append(list, zofedht()...)
	list = append(list, heterogeneity(), beyond(), zoflMNIST(), defaults(), mixed(), further(),
		finish(), groups(), byzantine(), guards(), leakExperiment())
	return append(list, fzoosExperiments()...)
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
	return nil, &wire.PlanError{Field: "experiment", Value: id,
		Remedy: "choose one of " + strings.Join(ids, ", ")}
}
