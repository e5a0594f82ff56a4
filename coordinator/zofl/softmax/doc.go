// Package softmax is the image classifier that `zofl demo` and `zofl client` train: a loss of one
// flat float32 vector and a minibatch, written in Go alone.
//
//	model := softmax.New(images, mean, std)
//	loss := model.Loss(params, batcher.Pick(size, seed))
//
// All clients can share one [Classifier]; each client has a [data.Batcher] of its own. [Scorer],
// [Mean], [Evaluate] and [CrossEntropy] also serve the larger models of the testing module.
//
// # Determinism
//
// A loss depends on its arguments only. The last bits of a loss may differ between architectures,
// because math.Exp and math.Log differ. Only one device uses a loss, so devices need not agree on
// its bits.
package softmax
