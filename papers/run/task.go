package run

import (
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
)

// A Task is the training problem of a fleet. Several goroutines call its functions at the same
// time.
type Task struct {
	// Dim is d, the number of parameters.
	Dim int
	// Loss returns the mean loss at params over the training samples with indices samples.
	Loss func(params []float32, samples []int) float64
	// Gradient, unless nil, returns Loss, and adds its gradient to grad, which is Dim long.
	// Only clients of [Config].Differentiates call it.
	Gradient func(grad, params []float32, samples []int) (loss float64)
	// Classes and Class, unless 0 and nil, give the number of classes and the class of a training
	// sample.
	Classes int
	Class   func(sample int) int
	// The harness calls Asked, unless nil, before each Loss or Gradient, with the same arguments and
	// the step.
	Asked func(params []float32, samples []int, b objective.Batch)
	// Metrics are the names of the values that Measure returns, in order.
	Metrics []string
	// Measure returns the metrics of a model on data that no client trains on; nil: no measurements.
	Measure func(params []float32) []float64
}

// Metrics of a classifier.
const (
	TestLoss = "test_loss" // mean cross-entropy, in nats
	Accuracy = "accuracy"  // part of the test set that is classified correctly
)

// A Model is a model together with the samples on which it is evaluated, such as the models of
// package models. Several goroutines may call the methods of a Model at the same time.
type Model interface {
	softmax.Scorer
	Loss(params []float32, batch []int) float64
}

// A differentiable is a [Model] with a gradient, which it adds to grad.
type differentiable interface {
	Gradient(grad, params []float32, batch []int) (loss float64)
}

// Classifier returns the task of training the model train, with metrics of the model test.
// goroutines goroutines compute the metrics. The task has a gradient if train has a gradient.
func Classifier(train, test Model, goroutines int) Task {
	t := Task{
		Dim: train.Dim(), Loss: train.Loss, Metrics: []string{TestLoss, Accuracy},
		Measure: func(params []float32) []float64 {
			loss, accuracy := softmax.Evaluate(test, params, goroutines)
			return []float64{loss, accuracy}
		},
	}
	if d, ok := train.(differentiable); ok {
		t.Gradient = d.Gradient
	}
	return t
}

// Null returns t with a training loss that is always 0, and without metrics. The time of a round
// of this task is the time of everything except the forward passes.
func (t Task) Null() Task {
	return Task{Dim: t.Dim, Loss: func([]float32, []int) float64 { return 0 }}
}
