package lossprogram

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/await"
)

// TestStartFails: Start returns an error at once if the program starts wrongly.
func TestStartFails(t *testing.T) {
	for how, want := range map[string]string{
		"silent": "did not answer hello within", "chatty": `answered "Welcome to my model!"`,
		"exits": "the program ended: exit status 3: let it answer hello",
	} {
		cfg, _ := config(t, how)
		cfg.Startup = await.Patience
		if how == "silent" {
			cfg.Startup = 100 * time.Millisecond
		}
		if _, err := Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", how, err, want)
		}
	}
	cfg, _ := config(t, "well")
	cfg.Dim = testDim + 1
	if _, err := Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "dim is 4") {
		t.Errorf("another dim: %v", err)
	}
	cfg.Command = []string{filepath.Join(t.TempDir(), "nothing")}
	if _, err := Start(t.Context(), cfg); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such program: %v", err)
	}
}

// TestDimFromFlag: a program that takes any dim gets the Dim of the Config.
func TestDimFromFlag(t *testing.T) {
	cfg, _ := config(t, "any")
	cfg.Dim = testDim
	p, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	well(t, p)
}

// TestDimFromPlan: without a Dim in the Config, such a program gets the one of SetDim, and no more
// numbers in a request than it can know room for.
func TestDimFromPlan(t *testing.T) {
	cfg, _ := config(t, "any")
	p, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.Dim() != 0 {
		t.Errorf("dim %d before there is a plan", p.Dim())
	}
	p.hello.points = 16
	for dim, points := range map[int]int{
		testDim: 16, anyDimNumbers / 3: 3, anyDimNumbers + 1: 1,
	} {
		if p.SetDim(dim); p.Dim() != dim || p.points != points {
			t.Errorf("%d parameters: %d points of %d", dim, p.points, p.Dim())
		}
	}
	p.SetDim(testDim)
	well(t, p)
}

func TestParseHello(t *testing.T) {
	for line, want := range map[string]string{
		"hello 2 dim=3": "speaks version 2", "hello 1": "say dim=D", "hello 1 dim=x": "dim=x",
		"hello 1 dim=-1": "dim=-1", "hello 1 dim=3 points=0": "points=0", "": "answered",
		"hello 1 dim=3 evaluate=maybe": "evaluate=maybe", "hello 1 dim=3 factors=2": "factors=2",
		"hello 1 dim=3 samples=0": "samples=0",
	} {
		if _, err := parseHello(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add("hello 1 dim=3 points=2 evaluate=1")
	f.Add("metrics 0.5 nan samples=3")
	f.Fuzz(func(t *testing.T, line string) {
		if h, err := parseHello(line); err == nil && (h.dim < 0 || h.points < 1 || h.samples < 0) {
			t.Errorf("%q: %+v", line, h)
		}
		if m, n, err := parseMetrics(strings.Fields(line)); err == nil {
			if n < 1 {
				t.Errorf("%q: %v, %d", line, m, n)
			}
		}
	})
}
