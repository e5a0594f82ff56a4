package run

import "github.com/zofl/zofl/client/objective"

// A Task is what a fleet trains. Its functions are called by several goroutines at
// a time.
type Task struct {
	// Dim is d, the number of parameters.
	Dim int
	// Loss returns the mean loss at params over the training samples whose indices
	// are in samples.
	Loss func(params []float32, samples []int) float64
	// Asked is told what Loss is asked, and of which step, before it is; nil: nobody is.
	Asked func(params []float32, samples []int, b objective.Batch)
	// Metrics names what Measure returns, in this order.
	Metrics []string
	// Measure measures a model on what no client trains on; nil: nothing does.
	Measure func(params []float32) []float64
}

// Metrics of a classifier.
const (
	TestLoss = "test_loss" // mean cross-entropy, in nats
	Accuracy = "accuracy"  // part of the test set that is classified right
)

// A Model is a model together with the samples that it is evaluated on, as those of
// package models are. Its methods only read, or guard what they write.
type Model interface {
	Dim() int // parameters
	Len() int // samples
	Loss(params []float32, batch []int) float64
	Evaluate(params []float32, goroutines int) (loss, accuracy float64)
}

// Classifier returns the task of a model over its training and its test set, which
// is measured by so many goroutines.
func Classifier(train, test Model, goroutines int) Task {
	return Task{
		Dim: train.Dim(), Loss: train.Loss, Metrics: []string{TestLoss, Accuracy},
		Measure: func(params []float32) []float64 {
			loss, accuracy := test.Evaluate(params, goroutines)
			return []float64{loss, accuracy}
		},
	}
}

// Null returns t with a training loss that costs nothing and says nothing, and
// without metrics, so that a round takes what everything but the forward pass does.
func (t Task) Null() Task {
	return Task{Dim: t.Dim, Loss: func([]float32, []int) float64 { return 0 }}
}
