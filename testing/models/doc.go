// Package models holds the objectives that Zofl's tests and experiments
// minimize: functions of one flat float32 vector and a minibatch.
//
// For most uses, make one [Model] of the training samples, shared by all
// clients, and a [Batcher] for each client's share of the samples:
//
//	batch := batcher.Pick(size, seed)
//	loss := model.Loss(params, batch)
//
// Of images there are [Softmax] and the CNNs: [NewCNNMNIST], [NewCNNFashion] and
// [NewCNNSmall]. Of [Samples] of two classes there are [NewLogistic], [NewSVM] and
// [NewMLP]. Package train trains the differentiable ones by their gradients.
//
// # Matrix products
//
// The CNNs and the MLP multiply matrices by gonum, in Go alone. Built with
// -tags openblas, and apt-get install libopenblas-dev, they use OpenBLAS, which is
// several times as fast: see [BLAS], and run the benchmarks either way. A call
// uses one goroutine; callers have several.
//
// # Determinism
//
// A loss depends on its arguments only, not on what ran before or beside it.
// Its last bits may differ between architectures, by math.Exp and math.Log, and
// between matrix multiplications: losses are local to a device and need not agree.
// Minibatches agree.
package models
