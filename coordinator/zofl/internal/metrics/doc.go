// Package metrics tells Prometheus what a run does. No label has the id of a device: however many
// there are, a run has less than 200 series.
package metrics
