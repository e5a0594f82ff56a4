// Package metrics reports a run to Prometheus. No label holds the id of a device, so a run has
// fewer than 200 series with any number of devices.
package metrics
