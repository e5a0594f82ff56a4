// Package models holds the objectives that Zofl's tests and experiments
// minimize: functions of one flat float32 vector and a minibatch.
//
// For most uses, make one [Model] of the training samples, shared by all
// clients, and a [data.Batcher] for each client's share of the samples:
//
//	batch := batcher.Pick(size, seed)
//	loss := model.Loss(params, batch)
//
// The CNNs classify images: [NewCNNMNIST], [NewCNNFashion] and [NewCNNSmall].
// [softmax.Classifier], a Model of the program's module, also classifies images. [NewLogistic],
// [NewSVM] and [NewMLP] classify [Samples] of two classes, [NewNet] the rows of a table with any
// number of classes. Package train trains the differentiable models by their gradients.
//
// # Matrix products
//
// The CNNs, the MLP and nets multiply matrices by gonum, in Go alone. Built with -tags openblas,
// after apt-get install libopenblas-dev, the models use OpenBLAS, which is several times as fast:
// see [BLAS], and run the benchmarks with and without the tag. With the tag and AVX-512, C code
// fuses the convolutions of [NewCNNMNIST] on images 28 pixels wide: a loss takes a third of the
// time, a gradient a fifth. On processors with tiles of bfloat16 (AMX) a loss takes a third less
// time again; then the factors in the second convolution have 17 bits. With AVX2 alone a loss
// takes half of the time, a gradient a fifth. A call uses one goroutine; call from several
// goroutines to use several cores.
//
// # Determinism
//
// A loss depends on its arguments only, not on other calls before or at the same time. The last
// bits of a loss may differ between architectures, because of math.Exp and math.Log, and between
// gonum and OpenBLAS. Devices need not agree on these bits, because each device computes its own
// losses.
package models
