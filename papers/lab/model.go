package lab

import (
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
)

// Segments returns a model's layers with names that a plan allows: PyTorch's contain
// dots.
func Segments(m models.Model) []plan.Segment {
	segments := m.Segments()
	for i := range segments {
		segments[i].Name = strings.ReplaceAll(segments[i].Name, ".", "-")
	}
	return segments
}

// Task returns softmax regression on a set, or the CNN and its layers.
func (s *Set) Task(cnn bool) (run.Task, []plan.Segment) {
	if cnn {
		train := models.NewCNNMNIST(s.Train, s.Mean, s.Std)
		return run.Classifier(train, models.NewCNNMNIST(s.Test, s.Mean, s.Std), 2), Segments(train)
	}
	return run.Classifier(softmax.New(s.Train, s.Mean, s.Std),
		softmax.New(s.Test, s.Mean, s.Std), 2), nil
}

// ModelName returns the name of the task's model in reports.
func ModelName(cnn bool) string {
	if cnn {
		return "CNN"
	}
	return "softmax"
}
