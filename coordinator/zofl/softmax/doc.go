// Package softmax is the image classifier that `zofl demo` and `zofl client` train: a loss
// of one flat float32 vector and a minibatch, in Go alone.
//
//	model := softmax.New(images, mean, std)
//	loss := model.Loss(params, batcher.Pick(size, seed))
//
// One [Classifier] serves all clients; each has a [data.Batcher] of its own. [Scorer],
// [Mean], [Evaluate] and [CrossEntropy] also serve the larger models of the testing module.
//
// # Determinism
//
// A loss depends on its arguments only. Its last bits may differ between architectures, by
// math.Exp and math.Log: losses are local to a device and need not agree.
package softmax
