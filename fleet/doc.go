// Package fleet runs a plan on devices in this process, with the production client and coordinator
// over a bus in memory. Use it to try a method, a loss or a setting before you have a device, and
// for experiments. [Run] does this: a thousand rounds of ten devices with a cheap loss take less
// than a second.
//
// # What differs from a live run
//
// Run follows a copy of the plan, in which it changes the fields about absent and slow devices:
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
// The result depends on the plan and the losses only, except the seconds, and the bytes with
// transport=dense and secure=sum. preset.New draws a new run key for each plan: keep the plan, or
// set its RunKey, to repeat a run. plan.BatchSeed returns the seed of a device's minibatch.
package fleet
