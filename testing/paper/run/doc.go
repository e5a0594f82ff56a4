// Package run trains one model in one process: the production coordinator and as
// many production clients as the plan has members, over a bus in memory. Only the
// distance is missing.
//
// For most uses, make a [Task] with [Classifier], a plan with [Plan], and call
// [Train], which returns the [Curve].
//
// # Determinism
//
// A curve is a function of the plan, the shares and the order of minibatches, but
// for its seconds: every round waits for all devices that it asks, their slots are
// given out before they join, and run name and run key come from the seed. Floats
// of the task's losses are the task's own affair. A run that was stopped and goes on
// with [Config].Dir comes to the same curve.
//
// # Memory
//
// Each client holds what a device holds, see package client: with momentum, two
// vectors of d floats and the one that the loss is asked at, and two more for K > 1.
package run
