// Package train trains a model by its gradients. Experiments train the classifiers that they
// attack with this package, and measure which accuracy a model can reach.
//
//	params, err := train.Train(ctx, model, train.Config{Test: test, Goroutines: 2})
//	err = train.Save(path, params)
//
// # Determinism
//
// The result depends on the model, the Config and the matrix multiplication that
// the models are built with, not on the number of goroutines.
package train
