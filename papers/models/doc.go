// Package models holds the objectives that Zofl's tests and experiments
// minimize: functions of one flat float32 vector and a minibatch.
//
// For most uses, make one [Model] of the training samples, shared by all
// clients, and a [data.Batcher] for each client's share of the samples:
//
//	batch := batcher.Pick(size, seed)
//	loss := model.Loss(params, batch)
//
// The CNNs classify images: [NewCNNMNIST], [NewCNNFashion] and [NewCNNSmall]. So
// does [softmax.Classifier], a Model of the program's module. [NewLogistic], [NewSVM]
// and [NewMLP] classify [Samples] of two classes, [NewNet] the rows of a table of any
// number. Package train trains the differentiable ones by their gradients.
//
// # Matrix products
//
// The CNNs, the MLP and nets multiply matrices by gonum, in Go alone. Built with
// -tags openblas, and apt-get install libopenblas-dev, they use OpenBLAS, which is
// several times as fast: see [BLAS], and run the benchmarks either way. On processors
// with AVX-512 the convolutions of [NewCNNMNIST] are then fused by C, on images 28 pixels
// wide: a loss takes a third of the time, a gradient a fifth. Processors with tiles of
// bfloat16 (AMX) take another third off a loss, of which then the second convolution's
// factors have 17 bits. With AVX2 alone a loss takes half of the time; gradients stay
// matrix products. A call uses one goroutine; callers have several.
//
// # Determinism
//
// A loss depends on its arguments only, not on other calls before or at the same time. Its last
// bits may differ between architectures, by math.Exp and math.Log, and between matrix
// multiplications: losses are local to a device and need not agree.
package models
