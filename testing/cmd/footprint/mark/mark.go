// Package mark is what a device under measurement says of itself, a line of JSON at a
// time.
package mark

// A Mark is a device's word that it has contributed so often. Whoever reads it looks at
// the process meanwhile, which goes on when it is sent a line.
type Mark struct {
	Contributions int64 `json:"contributions"`
	// Connect is how long nats.Connect took, in seconds; 0 where New's time has it.
	Connect float64 `json:"connect"`
	// Since is the time from New to the contribution, in seconds.
	Since float64 `json:"since"`
	// Mallocs and Bytes are what was allocated on the heap since the start.
	Mallocs uint64 `json:"mallocs"`
	Bytes   uint64 `json:"bytes"`
	// Live is what was in use on the heap when it was last collected, and what came
	// since; Collections how often it was.
	Live        uint64 `json:"live"`
	Collections uint32 `json:"collections"`
	// Sites are where allocations since the first mark came from, the most first: with
	// --sites.
	Sites []Site `json:"sites,omitempty"`
}

// A Site is a function that allocates, and whom it did that for.
type Site struct {
	Function string  `json:"function"`
	Mallocs  float64 `json:"mallocs"`
	Bytes    float64 `json:"bytes"`
}
