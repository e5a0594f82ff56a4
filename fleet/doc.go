// Package fleet runs a plan on devices in this process, with the production client and coordinator
// over a bus in memory. Use the package for experiments, and to try a method, a loss or a setting
// before you have a device. [Run] runs the plan. A thousand rounds of ten devices with a cheap loss
// take less than a second.
//
// # What differs from a live run
//
// Run copies the plan, and changes the fields about absent and slow devices in the copy:
//
//   - roster is listed, members is the number of devices, and device i has the id d<i> and slot i;
//   - target and quorum are at most members; over_sample is 1 and deadline an hour, so a round
//     waits for all devices that it asks;
//   - max_attempts is 1: a round without its quorum ends the run instead of asking again;
//   - diverge stays: a run that diverges ends;
//   - eval_every stays, but Run itself evaluates the model: see [Round].Metrics. So no device
//     declines a round because it is evaluating.
//
// # Determinism
//
// The result depends only on the plan and the losses. Exceptions are the seconds, and with
// transport=dense or secure=sum the bytes. preset.New draws a new run key for each plan: keep the
// plan, or set its RunKey, to repeat a run. plan.BatchSeed returns the seed of a device's
// minibatch.
package fleet
