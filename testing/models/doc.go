// Package models holds the objectives that Zofl's tests and experiments
// minimize: functions of one flat float32 vector and a minibatch.
//
// For most uses, make one [Softmax] of the training images, shared by all
// clients, and a [Batcher] for each client's share of the samples:
//
//	batch := batcher.Pick(size, seed)
//	loss := model.Loss(params, batch)
//
// # Determinism
//
// A loss depends on its arguments only, not on what ran before or beside it.
// Its last bits may differ between architectures, by math.Exp and math.Log:
// losses are local to a device and need not agree. Minibatches agree.
package models
