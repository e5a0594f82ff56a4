package surrogate

import (
	"cmp"
	"fmt"
	"math"
)

// Config has the settings of a [Process].
type Config struct {
	// Dim is d, the coordinates of a point.
	Dim int

	// Window is n, the largest number of points on which the process is conditioned.
	Window int

	// LengthScale is l, in units of x: values at points closer than about l are strongly correlated.
	LengthScale float64

	// Noise is sigma^2, the variance of a value's noise relative to the kernel's; that
	// is, for values normalized to a variance of 1. FZooS uses 1e-6.
	Noise float64

	// ZeroMean makes the prior mean 0, as in the paper's (8). Otherwise the prior mean is the mean of
	// the window's values.
	ZeroMean bool

	// Workers is the number of goroutines that share the candidates of [Process.Uncertainty]. 0 means
	// 1. Results do not depend on Workers.
	Workers int
}

// withDefaults returns a copy with defaults for zeros. withDefaults panics if a setting is invalid.
func (c Config) withDefaults() Config {
	c.Workers = cmp.Or(c.Workers, 1)
	c.check("Dim", c.Dim > 0, c.Dim, "at least 1")
	c.check("Window", c.Window > 0, c.Window, "at least 1")
	c.check("LengthScale", positive(c.LengthScale), c.LengthScale, "above 0 and finite")
	c.check("Noise", c.Noise == 0 || positive(c.Noise), c.Noise, "at least 0 and finite")
	c.check("Workers", c.Workers > 0, c.Workers, "at least 0")
	return c
}

func (c Config) check(field string, ok bool, value any, want string) {
	if !ok {
		panic(fmt.Sprintf("surrogate: internal error: Config.%s is %v, want %s", field, value,
			want))
	}
}

func positive(v float64) bool { return v > 0 && v <= math.MaxFloat64 }
