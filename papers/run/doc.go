// Package run trains one model in one process, with the production coordinator and one
// production client for each member of the plan, over a bus in memory.
//
// For most uses, make a [Task] with [Classifier], a plan with [Plan], and call
// [Train], which returns the [Curve].
//
// # Determinism
//
// A curve, except for its seconds, depends only on the plan, the shares and the order of
// minibatches: every round waits for all devices that it asks, slots are assigned before
// devices join, and run name and run key come from the seed. Whether the task's losses are
// reproducible is up to the task. A run that was stopped and continues with [Config].Dir
// has the same curve.
//
// # Memory
//
// Each client holds what a device holds, see package client: with momentum, two vectors of
// d floats and the one at which the loss is evaluated, and two more for K > 1.
package run
