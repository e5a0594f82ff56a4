//go:build !race

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan"
)

// against trains a plan of 20 devices with 30 parameters, of which the first ones lie, and returns
// the squared distance to the honest devices' optimum. It begins at 30. A device's loss is the
// squared distance to a point of its own, 0.5 from the optimum; a liar's is -10 times the loss at
// the optimum.
func against(t *testing.T, p *plan.Plan, liars int) float64 {
	t.Helper()
	var devices []objective.Objective
	for d := range 20 {
		devices = append(devices, objective.Func(30, func(_ context.Context, x []float32,
			b objective.Batch) (float64, error) {
			sum := 0.0
			for i, v := range x {
				off := float64(v) - 1
				if d >= liars && i%10 == d%10 {
					off += 0.3 * float64(1-2*(d/10))
				}
				sum += off * off
			}
			if d < liars {
				return -10 * sum, nil
			}
			return sum, nil
		}))
	}
	r, err := fleet.Run(t.Context(), p, devices, fleet.Options{})
	if err != nil {
		t.Log(err)
		return 30
	}
	distance := 0.0
	for _, v := range r.Params {
		distance += float64(v-1) * float64(v-1)
	}
	return distance
}

// TestLiarsPlanTrains: the plan of --liars N trains with N liars as well as without, with and
// without a file. The default plan ends farther away.
func TestLiarsPlanTrains(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.json")
	fields := strings.Fields("--dim 30 --set members=20 --set target=20 --set quorum=20 " +
		"--set rounds=120")
	guarded := readPlan(t, append(fields, "--liars", "4", "--write", file)...)
	stored := readPlan(t, file)
	if stored.Liars != 4 || stored.Trim != guarded.Trim || stored.Transport != plan.Mean {
		t.Errorf("the file's plan has liars=%d trim=%v transport=%v", stored.Liars, stored.Trim,
			stored.Transport)
	}
	honest, lied := against(t, guarded, 0), against(t, stored, 4)
	unguarded := against(t, readPlan(t, fields...), 4)
	t.Logf("honest %.3g, with 4 liars %.3g, of the default %.3g", honest, lied, unguarded)
	if honest > 0.1 || lied > 0.1 || unguarded < 10*lied {
		t.Errorf("distances %.3g of honest devices, %.3g with liars, want at most 0.1; %.3g with the "+
			"default, want ten times as much", honest, lied, unguarded)
	}
}

// TestOneLiarOfCandidates: where a new plan takes cma, one device that lies changes nothing, also
// among three.
func TestOneLiarOfCandidates(t *testing.T) {
	for name, lie := range map[string]func(float64) float64{
		"-10 times": func(f float64) float64 { return -10 * f },
		"-1 times":  func(f float64) float64 { return -f },
		"1e6 times": func(f float64) float64 { return 1e6 * f },
		"inverse":   func(f float64) float64 { return 1 / (1 + f) },
		"random":    func(float64) float64 { return 1000 * rand.NormFloat64() },
	} {
		t.Run(name, func(t *testing.T) { lies(t, lie) })
	}
}

// lies trains with one device that lies.
func lies(t *testing.T, lie func(float64) float64) {
	for _, dim := range []int{6, 30} {
		for _, members := range []int{3, 5, 10} {
			fields := fmt.Sprintf("--dim %d --set members=%d --set quorum=%[2]d --set rounds=300",
				dim, members)
			p := readPlan(t, strings.Fields(fields)...)
			var devices []objective.Objective
			for d := range members {
				devices = append(devices, objective.Func(dim, func(_ context.Context, x []float32,
					_ objective.Batch) (float64, error) {
					sum := 0.0
					for _, v := range x {
						sum += (float64(v) - 1) * (float64(v) - 1)
					}
					if d == 0 {
						return lie(sum), nil
					}
					return sum, nil
				}))
			}
			r, err := fleet.Run(t.Context(), p, devices, fleet.Options{})
			if err != nil {
				t.Fatal(err)
			}
			far := 0.0
			for _, v := range r.Params {
				far += float64(v-1) * float64(v-1)
			}
			if p.Preset != "cma" || far > 0.01 {
				t.Errorf("%s: %s ends at %.3g from the optimum, want at most 0.01", fields, p.Preset, far)
			}
		}
	}
}
