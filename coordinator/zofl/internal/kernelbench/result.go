package kernelbench

// Result is the outcome of a measurement. Ratios are speeds divided by the speed, in the same
// rounds, of a reference loop: x[i] += a*NormFloat64() with the PCG of math/rand/v2.
type Result struct {
	Backend string `json:"backend"` // name of the instruction set in use
	// ISA, Generic, AVX2 and NEON are ratios of x += a*z for normal z, in elements a second: with the
	// instruction set in use, in Go alone, and with each instruction set of the machine.
	ISA     float64 `json:"isa"`
	Generic float64 `json:"generic"`
	AVX2    float64 `json:"avx2,omitempty"`
	AVX512  float64 `json:"avx512,omitempty"`
	NEON    float64 `json:"neon,omitempty"`
	// Rademacher8 is the ratio of a sum of eight ±1 directions, counting the elements of all eight,
	// with the instruction set in use. The other two are the ratios in Go alone and with AVX2.
	Rademacher8        float64 `json:"rademacher8"`
	Rademacher8Generic float64 `json:"rademacher8_generic"`
	Rademacher8AVX2    float64 `json:"rademacher8_avx2,omitempty"`
	Rademacher8AVX512  float64 `json:"rademacher8_avx512,omitempty"`
	Rademacher8NEON    float64 `json:"rademacher8_neon,omitempty"`
	// LowRankGeneric, LowRankAVX2 and LowRankNEON are the ratios of a step of 64 directions of rank 1,
	// counting the elements of all, in Go alone and with AVX2 or NEON.
	LowRankGeneric float64 `json:"lowrank_generic"`
	LowRankAVX2    float64 `json:"lowrank_avx2,omitempty"`
	LowRankNEON    float64 `json:"lowrank_neon,omitempty"`

	// Yardstick is the speed of the NormFloat64 loop, in elements a second.
	Yardstick float64 `json:"yardstick"`

	// Replay1 and ReplayN are the speeds of replay on one core and on Workers cores, in elements of
	// all directions a second. Replay applies ReplayRecords records of one normal direction each to
	// ReplayDim parameters.
	Replay1       float64 `json:"replay_1"`
	ReplayN       float64 `json:"replay_n"`
	Workers       int     `json:"replay_n_workers"`
	ReplaySpeedup float64 `json:"replay_speedup"` // ReplayN over Replay1
	ReplayDim     int     `json:"replay_dim"`
	ReplayRecords int     `json:"replay_records"`

	// Bandwidth and BandwidthN are the speed of a pass that reads and writes every element of an array
	// of BandwidthArray bytes, on one core and on Workers cores, in bytes read plus bytes written a
	// second. The bandwidth shares say which fraction of that speed a pass of x += a*z reaches.
	Bandwidth       float64 `json:"bandwidth"`
	BandwidthN      float64 `json:"bandwidth_n"`
	BandwidthUnit   string  `json:"bandwidth_unit"`
	BandwidthArray  int     `json:"bandwidth_array"`
	BandwidthShare  float64 `json:"bandwidth_share"`
	BandwidthShareN float64 `json:"bandwidth_share_n"`
	// ReplayShare is Replay1 divided by the speed of a replay that makes one pass at Bandwidth for
	// each direction. ReplayShare can exceed 1, because blocks stay in a cache from one direction to
	// the next.
	ReplayShare  float64 `json:"replay_share"`
	ReplayShareN float64 `json:"replay_share_n"`

	Machine Machine `json:"machine"`
	Seconds float64 `json:"seconds"` // duration of the measurement
}
