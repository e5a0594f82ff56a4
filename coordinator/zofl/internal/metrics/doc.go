// Package metrics reports a run to Prometheus. No label has the id of a device: however many there
// are, a run has less than 200 series.
package metrics
