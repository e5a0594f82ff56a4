// Package fleet tests whole runs: a real broker, a coordinator, and devices in this process
// or in their own processes, some of them of other architectures.
package fleet
