package zofedht

import (
	"fmt"
	"path/filepath"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/papers/tables"
	"github.com/zofl/zofl/plan"
)

// Metrics over all training samples, as in the paper's curves.
const (
	wholeLoss     = "whole_loss"
	wholeAccuracy = "whole_accuracy"
)

var metrics = []string{wholeLoss, wholeAccuracy}

const (
	// hidden are the units of the paper's MLP.
	hidden = 50
	// plantedTexts is about the number of training texts in rcv1.binary.
	plantedTexts = 20_000
)

// A set is a data set of two classes, and its trainings.
type set struct {
	name     string
	tag      string // in names of runs
	labels   []uint8
	model    models.Model
	segments []plan.Segment
	tuned    map[key]*tuned
	smaller  *tuned // ZOFedAvg-SGD at ZOFedHT's eta0 times 1-alpha
}

// load reads a data set and makes its model. Pixels are from 0 to 1, because the paper gives no
// scale. Only the MLP has biases. The parameters of linear models start at zero.
func (x *trial) load(name string) (*set, error) {
	s := &set{name: name, tuned: map[key]*tuned{}}
	samples, err := x.samples(s)
	if err != nil {
		return nil, err
	}
	switch x.model {
	case "lr":
		s.model = models.NewLogistic(samples, false)
	case "svm":
		s.model = models.NewSVM(samples, false)
	case "mlp":
		s.model = models.NewMLP(samples, hidden)
		s.segments = lab.Segments(s.model)
	default:
		return nil, fmt.Errorf("zofedht: model %q: choose one of lr, svm, mlp", x.model)
	}
	return s, nil
}

func (x *trial) samples(s *set) (*models.Samples, error) {
	switch s.name {
	case "mnist", "fashion-mnist":
		s.tag = s.name[:2]
		return x.imageSamples(s)
	case "a9a":
		s.tag = "a9a"
		dir, err := x.Env.Find("tables")
		if err != nil {
			return nil, err
		}
		train, _, err := tables.A9A(filepath.Clean(dir))
		if err != nil {
			return nil, err
		}
		return x.sparseSamples(s, train), nil
	case "planted":
		s.tag = "sp"
		return x.sparseSamples(s, tables.Planted(plantedTexts, 1)), nil
	}
	return nil, fmt.Errorf("zofedht: data set %q: choose one of mnist, fashion-mnist, a9a, planted",
		s.name)
}

func (x *trial) imageSamples(s *set) (*models.Samples, error) {
	read, err := x.Env.Images(s.name)
	if err != nil {
		return nil, err
	}
	halves := read.Train.Halves()
	if n := x.size.samples; n > 0 && n < halves.Len() {
		first := *halves
		first.Labels, first.Pixels = halves.Labels[:n], halves.Pixels[:n*halves.Rows*halves.Cols]
		halves = &first
	}
	s.labels = halves.Labels
	return models.ImageSamples(halves, 0, 1), nil
}

func (x *trial) sparseSamples(s *set, all *tables.Sparse) *models.Samples {
	if n := x.size.samples; n > 0 && n < all.Len() {
		all, _ = all.Split(n)
	}
	s.labels = all.Labels
	return models.SparseSamples(all)
}

// shares deals a data set to clients: at random, or sorted by label and cut evenly.
func (x *trial) shares(s *set, seed uint64) ([][]int, error) {
	if x.split == "noniid" {
		return data.Shards(s.labels, x.size.clients, 1, seed)
	}
	return data.IID(len(s.labels), x.size.clients, seed)
}

func (s *set) task() run.Task {
	return run.Task{
		Dim: s.model.Dim(), Loss: s.model.Loss, Metrics: metrics,
		Measure: func(params []float32) []float64 {
			loss, accuracy := softmax.Evaluate(s.model, params, 2)
			return []float64{loss, accuracy}
		},
	}
}
