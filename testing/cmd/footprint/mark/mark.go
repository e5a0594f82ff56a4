// Package mark defines the report of a device under measurement, one line of JSON at a time.
package mark

// A Mark says that a device has made a number of contributions. The reader measures the process
// while the process waits; the process continues when it reads a line.
type Mark struct {
	Contributions int64 `json:"contributions"`
	// Connect is the duration of nats.Connect in seconds; 0 if New connects.
	Connect float64 `json:"connect"`
	// Since is the time from New to the contribution, in seconds.
	Since float64 `json:"since"`
	// Mallocs and Bytes count heap allocations since the start.
	Mallocs uint64 `json:"mallocs"`
	Bytes   uint64 `json:"bytes"`
	// Live is the heap in use after the last collection, plus all later allocations. Collections is
	// the number of collections.
	Live        uint64 `json:"live"`
	Collections uint32 `json:"collections"`
}
