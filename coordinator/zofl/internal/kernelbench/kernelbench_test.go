package kernelbench

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/internal/isa"
	"github.com/zofl/zofl/internal/isa/isatest"
	"github.com/zofl/zofl/prng"
)

func small() Config { return Config{Duration: time.Millisecond, Dim: 10_000, Array: 1 << 20} }

func TestRun(t *testing.T) { isatest.Each(t, testRun) }

func testRun(t *testing.T) {
	before := isa.Current()
	var names []string
	cfg := small()
	cfg.Progress = func(stage string, done float64) {
		if names = append(names, stage); done < 0 || done > 1 {
			t.Errorf("%s is %v done", stage, done)
		}
	}
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got := isa.Current(); got != before {
		t.Errorf("left with %v, want %v", got, before)
	}
	if want := []string{"kernels", "bandwidth", "replay"}; !slices.Equal(slices.Compact(names),
		want) {
		t.Errorf("stages %v, want %v", names, want)
	}
	for name, v := range map[string]float64{
		"ISA": r.ISA, "Generic": r.Generic, "Rademacher8": r.Rademacher8,
		"Rademacher8Generic": r.Rademacher8Generic,
		"LowRankGeneric":     r.LowRankGeneric,
		"Yardstick":          r.Yardstick, "Replay1": r.Replay1, "ReplayN": r.ReplayN,
		"ReplaySpeedup": r.ReplaySpeedup,
		"Bandwidth":     r.Bandwidth, "BandwidthN": r.BandwidthN, "BandwidthShare": r.BandwidthShare,
		"BandwidthShareN": r.BandwidthShareN, "ReplayShare": r.ReplayShare,
		"ReplayShareN": r.ReplayShareN,
	} {
		if !(v > 0) || math.IsInf(v, 0) {
			t.Errorf("%s = %v, want a positive number", name, v)
		}
	}
	for level, v := range map[isa.Level]float64{
		isa.Generic: r.Generic, isa.AVX2: r.AVX2, isa.AVX512: r.AVX512, isa.NEON: r.NEON,
	} {
		if has := slices.Contains(isa.Levels(), level); has != (v > 0) {
			t.Errorf("%v = %v, this machine's best is %v", level, v, isa.Best())
		}
		if level == before && r.ISA != v {
			t.Errorf("isa is %v, want that of %v, %v", r.ISA, level, v)
		}
	}
	for level, v := range map[isa.Level]float64{isa.AVX2: r.LowRankAVX2, isa.NEON: r.LowRankNEON} {
		if has := slices.Contains(isa.Levels(), level); has != (v > 0) {
			t.Errorf("rank 1 with %v is %v, this machine's best is %v", level, v, isa.Best())
		}
	}
	if r.Backend != before.String() || r.ReplayDim != cfg.Dim || r.BandwidthArray != cfg.Array ||
		r.Machine.Go == "" {
		t.Errorf("got %+v", r)
	}
}

func TestRunStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cfg := small()
	cfg.Duration = time.Hour
	cfg.Progress = func(string, float64) { cancel() }
	if _, err := Run(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestConfigRefused(t *testing.T) {
	for name, c := range map[string]Config{
		"Duration": {Duration: -1},
		"Dim":      {Dim: -1},
		"Array":    {Array: -1},
	} {
		if _, err := Run(t.Context(), c); !errors.Is(err, ErrConfig) ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	m := Machine{Available: 1000}
	for name, c := range map[string]Config{"Dim": {Dim: 126, Array: 4},
		"Array": {Dim: 1, Array: 1001}} {
		if _, err := c.withDefaults(m); !errors.Is(err, ErrConfig) ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s beyond the memory: got %v", name, err)
		}
	}
	if _, err := (Config{Dim: math.MaxInt}).withDefaults(Machine{}); !errors.Is(err, ErrConfig) {
		t.Errorf("a Dim whose bytes no int counts: got %v", err)
	}
}

func TestDefaults(t *testing.T) {
	for _, c := range []struct {
		m          Machine
		dim, array int
	}{
		{Machine{}, 10_000_000, 256 << 20},
		{Machine{Cache: 1 << 20, Available: 8 << 30}, 10_000_000, 64 << 20},
		{Machine{Cache: 32 << 20, Available: 8 << 30}, 10_000_000, 128 << 20},
		{Machine{Cache: 1 << 20, Available: 64 << 20}, 2 << 20, 32 << 20},
		{Machine{Available: 1}, 1, 4},
	} {
		if dim, array := defaultDim(c.m), defaultArray(c.m); dim != c.dim || array != c.array {
			t.Errorf("%+v: d = %d and %d bytes, want %d and %d", c.m, dim, array, c.dim, c.array)
		}
	}
}

func TestFields(t *testing.T) {
	name := filepath.Join(t.TempDir(), "info")
	if err := os.WriteFile(name, []byte("processor\t: 0\nmodel name\t: A: B\n\nmodel name\t: C\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if got := fields(name); len(got) != 2 || got["model name"] != "A: B" ||
		got["processor"] != "0" {
		t.Errorf("got %q", got)
	}
	if got := fields(name + "x"); len(got) != 0 {
		t.Errorf("a missing file: %q", got)
	}
}

// Parts begin at block boundaries, and passes over the parts give the same bits as one pass over
// the whole.
func TestSplit(t *testing.T) {
	for _, n := range []int{1, prng.BlockLen, 5*prng.BlockLen + 7} {
		want := make([]float32, n)
		add(want, 0)
		for workers := 1; workers < 9; workers++ {
			got := make([]float32, n)
			split(got, workers, add)
			if !slices.Equal(got, want) {
				t.Errorf("%d elements on %d workers differ from one pass", n, workers)
			}
		}
	}
}

func TestSameBits(t *testing.T) {
	log, err := newLog(100)
	if err != nil {
		t.Fatal(err)
	}
	one, all := replica.New(config(1)), replica.New(config(2))
	for _, r := range []*replica.Replica{one, all} {
		if err := apply(r, log.first); err != nil {
			t.Fatal(err)
		}
	}
	if err := sameBits(one, all); err != nil {
		t.Error(err)
	}
	if err := apply(all, log.rounds(1)); err != nil {
		t.Fatal(err)
	}
	if err := sameBits(one, all); !errors.Is(err, ErrBits) {
		t.Errorf("got %v, want %v", err, ErrBits)
	}
}
