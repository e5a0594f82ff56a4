// Package run trains one model in one process, with the production coordinator and one
// production client for each member of the plan, over a bus in memory.
//
// For most uses, make a [Task] with [Classifier], a plan with [Plan], and call
// [Train], which returns the [Curve].
//
// # Determinism
//
// A curve, except for its seconds, depends only on the plan, the shares and the order of
// minibatches. In every round the coordinator waits for all devices that it asks, the harness
// assigns slots before devices join, and run name and run key come from the seed. Whether the
// task's losses are reproducible is up to the task. A run that stops and then continues with
// [Config].Dir has the same curve as a run without a stop.
//
// # Memory
//
// Each client holds the same vectors of d floats as a device, see package client. With momentum,
// a client holds three: two for the state, and the point at which it evaluates the loss. For K >
// 1, a client holds two more.
package run
