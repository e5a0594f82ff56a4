// Package fleet tests whole runs: a real broker, a coordinator, and devices in
// this process or in processes of their own, also of other architectures.
package fleet
