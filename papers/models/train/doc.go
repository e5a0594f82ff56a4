// Package train trains a model by its gradients, in the usual way: for the classifiers that an
// experiment attacks, and to know what a model can reach.
//
//	params, err := train.Train(ctx, model, train.Config{Test: test, Goroutines: 2})
//	err = train.Save(path, params)
//
// # Determinism
//
// The result depends on the model, the Config and the matrix multiplication that
// the models are built with, not on the number of goroutines.
package train
