package run

import "github.com/zofl/zofl/client/objective"

// A Task is what a fleet trains. Several goroutines call its functions at the same time.
type Task struct {
	// Dim is d, the number of parameters.
	Dim int
	// Loss returns the mean loss at params over the training samples with indices samples.
	Loss func(params []float32, samples []int) float64
	// Asked, unless nil, is called with the arguments of each Loss and its step, before
	// Loss.
	Asked func(params []float32, samples []int, b objective.Batch)
	// Metrics are the names of the values that Measure returns, in order.
	Metrics []string
	// Measure measures a model on data that no client trains on; nil: no measurements.
	Measure func(params []float32) []float64
}

// Metrics of a classifier.
const (
	TestLoss = "test_loss" // mean cross-entropy, in nats
	Accuracy = "accuracy"  // part of the test set that is classified correctly
)

// A Model is a model with the samples that it is evaluated on, such as those of package
// models. Its methods are safe for concurrent use.
type Model interface {
	Dim() int // parameters
	Len() int // samples
	Loss(params []float32, batch []int) float64
	Evaluate(params []float32, goroutines int) (loss, accuracy float64)
}

// Classifier returns the task of a model on its training and its test set, measured by a
// number of goroutines.
func Classifier(train, test Model, goroutines int) Task {
	return Task{
		Dim: train.Dim(), Loss: train.Loss, Metrics: []string{TestLoss, Accuracy},
		Measure: func(params []float32) []float64 {
			loss, accuracy := test.Evaluate(params, goroutines)
			return []float64{loss, accuracy}
		},
	}
}

// Null returns t with a training loss that costs nothing and means nothing, and without
// metrics, so that a round takes as long as everything except the forward pass.
func (t Task) Null() Task {
	return Task{Dim: t.Dim, Loss: func([]float32, []int) float64 { return 0 }}
}
