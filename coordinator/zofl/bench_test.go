package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/internal/isa"
)

var smallBench = []string{"bench", "kernel", "--seconds", "0.01", "--dim", "10000", "--array", "1"}

func TestBenchKernelJSON(t *testing.T) {
	out, err := zofl(t, append(smallBench, "--json")...)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	positive := []string{"isa", "generic", "rademacher8", "replay_1", "replay_n",
		"replay_n_workers",
		"bandwidth", "bandwidth_n", "bandwidth_share", "bandwidth_share_n", "yardstick"}
	for level := isa.AVX2; level <= isa.NEON; level++ {
		if slices.Contains(isa.Levels(), level) {
			positive = append(positive, level.String())
		} else if v, ok := got[level.String()]; ok {
			t.Errorf("%v = %v on a machine without it", level, v)
		}
	}
	for _, key := range positive {
		if v, ok := got[key].(float64); !ok || v <= 0 {
			t.Errorf("%s = %v, want a positive number", key, got[key])
		}
	}
	machine, _ := got["machine"].(map[string]any)
	if got["backend"] != isa.Current().String() || machine["goarch"] == nil ||
		got["replay_dim"] != 10000.0 {
		t.Errorf("got %s", out)
	}
}

func TestBenchKernelTable(t *testing.T) {
	out, err := zofl(t, smallBench...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"NormFloat64 loop", "normal, generic", "d=10000, 1 core",
		isa.Current().String()} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

func TestBenchRefuses(t *testing.T) {
	for _, c := range []struct{ args, want []string }{
		{[]string{"bench"}, []string{"kernel", "--help"}},
		{[]string{"bench", "kernel", "--seconds", "0"}, []string{"--seconds", "0"}},
		{[]string{"bench", "kernel", "--seconds", "NaN"}, []string{"--seconds", "NaN"}},
		{[]string{"bench", "kernel", "--dim", "-1"}, []string{"Dim", "-1"}},
		{[]string{"bench", "kernel", "--array", "-1"}, []string{"--array", "-1"}},
		{[]string{"bench", "kernel", "extra"}, []string{"extra", "--help"}},
	} {
		_, err := zofl(t, c.args...)
		refused(t, err, c.want)
	}
}

func TestBenchStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cmd := root()
	cmd.SetArgs(smallBench)
	if err := cmd.ExecuteContext(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
