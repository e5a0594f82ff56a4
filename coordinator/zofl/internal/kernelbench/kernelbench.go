// Package kernelbench measures how fast this machine regenerates random directions, compared with
// a plain Go loop and with the speed of its memory.
//
// A ratio is the median over rounds. Each round runs all compared loops once, so that other
// programs and changes of the CPU's clock affect both sides of a ratio.
package kernelbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// Errors of [Run].
var (
	// ErrConfig means that a field of Config has a wrong value.
	ErrConfig = errors.New("kernelbench: config")
	// ErrBits means that replay on several cores gave other bits than replay on one core.
	ErrBits = errors.New("kernelbench: different bits")
)

// MaxDuration is the largest [Config].Duration.
const MaxDuration = time.Hour

// Config says what to measure.
type Config struct {
	// Duration is about how long to measure, at most MaxDuration; 0 is 8 seconds. Run finishes a round
	// that it began, so a slow machine takes longer.
	Duration time.Duration
	// Dim is the number of parameters in replay; 0 means 10 million, or fewer so that replay needs at
	// most a quarter of the available memory.
	Dim int
	// Array is the size in bytes of the array for bandwidth; 0 is four times the largest cache,
	// between 64 MiB and 1 GiB, and at most half of the available memory.
	Array int
	// Run calls Progress, unless nil, after each round, with the stage and the fraction of the stage
	// that is done.
	Progress func(stage string, done float64)
}

// Run measures the speeds. It changes the instruction set that the whole process uses, and then
// restores it. So no other code should run in the process meanwhile. The error matches [ErrConfig]
// or [ErrBits], or is the context's error.
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
		if err := part.run(&stage{ctx, part.name, time.Now(), budget, cfg.Progress},
			r); err != nil {
			return nil, err
		}
		debug.FreeOSMemory() // the next stage may need the memory
	}
	r.Seconds = time.Since(start).Seconds()
	return r, nil
}

func (c Config) withDefaults(m Machine) (Config, error) {
	c.Duration = cmp.Or(c.Duration, 8*time.Second)
	if c.Dim == 0 {
		c.Dim = defaultDim(m)
	}
	c.Array = cmp.Or(c.Array, defaultArray(m))
	if c.Progress == nil {
		c.Progress = func(string, float64) {}
	}
	switch {
	case c.Duration < 0 || c.Duration > MaxDuration:
		return c, fmt.Errorf("%w: Duration = %v: want more than 0 and at most %v", ErrConfig,
			c.Duration, MaxDuration)
	case c.Dim < 0:
		return c, fmt.Errorf("%w: Dim = %d: want at least 1, or 0 for the default", ErrConfig,
			c.Dim)
	case c.Array < 0:
		return c, fmt.Errorf("%w: Array = %d bytes: want at least 1, or 0 for the default",
			ErrConfig, c.Array)
	case !m.fits(c.Array):
		return c, fmt.Errorf("%w: Array = %d bytes, of %d available: take a smaller one",
			ErrConfig, c.Array, m.Available)
	case c.Dim > maxDim || !m.fits(c.Dim*replicaBytes):
		return c, fmt.Errorf("%w: Dim is %d: memory does not hold two such models, take fewer",
			ErrConfig, c.Dim)
	}
	return c, nil
}
