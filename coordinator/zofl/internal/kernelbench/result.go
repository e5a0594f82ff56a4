package kernelbench

// Result is what a device can do. Ratios are to the yardstick, a loop of
// x[i] += a*NormFloat64() with math/rand/v2's PCG, in the same rounds.
type Result struct {
	Backend string `json:"backend"` // name of the instruction set in use
	// Ratios of the fused x += a*z for normal z, in elements a second: with the
	// set in use, in Go alone, and with those that the machine has.
	ISA     float64 `json:"isa"`
	Generic float64 `json:"generic"`
	AVX2    float64 `json:"avx2,omitempty"`
	AVX512  float64 `json:"avx512,omitempty"`
	NEON    float64 `json:"neon,omitempty"`
	// Rademacher8 is the ratio of a sum of eight ±1 directions, in elements of
	// all eight a second, with the set in use; the others as above.
	Rademacher8        float64 `json:"rademacher8"`
	Rademacher8Generic float64 `json:"rademacher8_generic"`
	Rademacher8AVX2    float64 `json:"rademacher8_avx2,omitempty"`
	Rademacher8AVX512  float64 `json:"rademacher8_avx512,omitempty"`
	Rademacher8NEON    float64 `json:"rademacher8_neon,omitempty"`

	// Yardstick is the NormFloat64 loop's elements a second.
	Yardstick float64 `json:"yardstick"`

	// Replay of ReplayRecords records of one normal direction each over
	// ReplayDim parameters, in elements of all directions a second, on one core
	// and on Workers.
	Replay1       float64 `json:"replay_1"`
	ReplayN       float64 `json:"replay_n"`
	Workers       int     `json:"replay_n_workers"`
	ReplaySpeedup float64 `json:"replay_speedup"` // of Workers over one
	ReplayDim     int     `json:"replay_dim"`
	ReplayRecords int     `json:"replay_records"`

	// Bandwidth is that of a pass that reads and writes every element of an
	// array of BandwidthArray bytes, in bytes a second, both ways counted, on
	// one core and on Workers. The shares of it are those of one pass of
	// x += a*z over the same array.
	Bandwidth       float64 `json:"bandwidth"`
	BandwidthN      float64 `json:"bandwidth_n"`
	BandwidthUnit   string  `json:"bandwidth_unit"`
	BandwidthArray  int     `json:"bandwidth_array"`
	BandwidthShare  float64 `json:"bandwidth_share"`
	BandwidthShareN float64 `json:"bandwidth_share_n"`
	// ReplayShare is Replay1 over what passes at Bandwidth would come to, one a
	// direction: blocks that stay in a cache may make it greater than 1.
	ReplayShare  float64 `json:"replay_share"`
	ReplayShareN float64 `json:"replay_share_n"`

	Machine Machine `json:"machine"`
	Seconds float64 `json:"seconds"` // that the measurement took
}
