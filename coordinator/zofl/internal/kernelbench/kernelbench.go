// Package kernelbench measures how fast this device regenerates directions, in
// ratios to a loop that every Go programmer can write, and how near that is to
// what its memory allows.
//
// A ratio is the median over rounds, each of which runs everything compared once:
// that holds on a machine that others use too, and whose clock changes.
package kernelbench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// Errors that a caller branches on.
var (
	// ErrConfig: a field of Config cannot be used.
	ErrConfig = errors.New("kernelbench: config")
	// ErrBits: two ways to the same model came to different bits.
	ErrBits = errors.New("kernelbench: different bits")
)

// MaxDuration is the longest that a measurement can be asked to take.
const MaxDuration = time.Hour

// Config says what is measured.
type Config struct {
	// Duration is about how long it takes, in (0, MaxDuration]; 0 is 8
	// seconds. Every round is finished, so that a slow device takes longer.
	Duration time.Duration
	// Dim is the number d of parameters that are replayed; 0 is 10 million, or
	// what fits a quarter of the available memory.
	Dim int
	// Array is the size in bytes of the array that bandwidth is measured over;
	// 0 is four times the largest cache, in [64 MiB, 1 GiB], and at most half
	// of the available memory.
	Array int
	// Progress, if not nil, is told of each round: the stage and the part of
	// it that is done, in [0, 1].
	Progress func(stage string, done float64)
}

// Run measures. It changes the instruction set that the whole process uses, and
// restores it; nothing else should run meanwhile.
//
// Errors: [ErrConfig], [ErrBits], and the context's.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	r := &Result{Machine: describe(), Workers: runtime.GOMAXPROCS(0)}
	cfg, err := cfg.withDefaults(r.Machine)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	for _, part := range []struct {
		name  string
		share float64 // of the duration
		run   func(*stage, *Result) error
	}{
		{"kernels", 0.4, kernels},
		{"bandwidth", 0.25, func(s *stage, r *Result) error { return bandwidth(s, r, cfg.Array) }},
		{"replay", 0.35, func(s *stage, r *Result) error { return replay(s, r, cfg.Dim) }},
	} {
		budget := time.Duration(part.share * float64(cfg.Duration))
		cfg.Progress(part.name, 0)
		if err := part.run(&stage{ctx, part.name, time.Now(), budget, cfg.Progress}, r); err != nil {
			return nil, err
		}
		debug.FreeOSMemory() // the next stage may need what this one had
	}
	r.Seconds = time.Since(start).Seconds()
	return r, nil
}

func (c Config) withDefaults(m Machine) (Config, error) {
	if c.Duration == 0 {
		c.Duration = 8 * time.Second
	}
	if c.Dim == 0 {
		c.Dim = defaultDim(m)
	}
	if c.Array == 0 {
		c.Array = defaultArray(m)
	}
	if c.Progress == nil {
		c.Progress = func(string, float64) {}
	}
	switch {
	case c.Duration < 0 || c.Duration > MaxDuration:
		return c, fmt.Errorf("%w: Duration = %v: want more than 0 and at most %v", ErrConfig, c.Duration, MaxDuration)
	case c.Dim < 0:
		return c, fmt.Errorf("%w: Dim = %d: want at least 1, or 0 for the default", ErrConfig, c.Dim)
	case c.Array < 0:
		return c, fmt.Errorf("%w: Array = %d bytes: want at least 1, or 0 for the default", ErrConfig, c.Array)
	case !m.fits(c.Array):
		return c, fmt.Errorf("%w: Array = %d bytes, of %d available: take a smaller one", ErrConfig, c.Array, m.Available)
	case c.Dim > maxDim || !m.fits(c.Dim*replicaBytes):
		return c, fmt.Errorf("%w: Dim = %d, two models of which do not fit the memory: take fewer parameters",
			ErrConfig, c.Dim)
	}
	return c, nil
}
