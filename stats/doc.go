// Package stats describes the columns of data that stay on devices, and scales rows by them.
//
// Each device describes its own rows, with [Of] or an [Accumulator]. The coordinator pools what the
// devices sent, and the pooled columns are a field of the run's plan, [plan.Plan].Stats. So all
// devices of a run have the same [Scaler], also those that join later.
package stats
