package overture

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
)

// TestShort runs the short form: in most of its rows the preset has nine tenths of the gap before
// the overture of many parameters has.
func TestShort(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	r, err := Experiment().Run(t.Context(), &lab.Env{Short: true, Seeds: 1, Logf: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	if rows := len(r.Summary.Rows); rows != 2*len(fleets) || len(r.Table.Rows) != 2*rows {
		t.Fatalf("%d rows of medians, %d of runs", rows, len(r.Table.Rows))
	}
	counts := map[string][]float64{}
	for _, row := range r.Table.Rows {
		n, err := strconv.ParseFloat(row[5], 64)
		if err != nil {
			t.Fatal(err)
		}
		counts[row[3]] = append(counts[row[3]], n)
	}
	if own, long := median(counts["zofl"]), median(counts["long"]); !(1.3*own < long) {
		t.Errorf("to a tenth of the gap: %v evaluations, with the long overture %v", own, long)
	}
}

// TestGaps: of each loss all of the gap is left at 0, and nowhere less than nothing.
func TestGaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, l := range allLosses {
		for _, f := range fleets {
			task := l.of(6, f, 1)
			if left := task.Measure(make([]float32, 6))[0]; math.Abs(left-1) > 1e-12 {
				t.Errorf("%s, %s devices: %v left at 0", l.name, f.name, left)
			}
			for range 20 {
				x := make([]float32, 6)
				for i := range x {
					x[i] = float32(2 * rng.NormFloat64())
				}
				if left := task.Measure(x)[0]; !(left > -1e-9) {
					t.Errorf("%s, %s devices: %v left at %v", l.name, f.name, left, x)
				}
			}
		}
	}
	ones := []float32{1, 1, 1, 1, 1, 1}
	if left := allLosses[1].of(6, fleets[0], 1).Measure(ones)[0]; left != 0 {
		t.Errorf("%v of Rosenbrock's valley is left at its end", left)
	}
}

// TestCounted: the first points of a curve with a tenth and a hundredth of the gap count, and the
// queries are those of a device.
func TestCounted(t *testing.T) {
	c := &run.Curve{}
	for i, left := range []float64{0.5, 0.08, 0.2, 0.05} {
		c.Points = append(c.Points, run.Point{Queries: uint64(10 * (i + 1)), Values: []float64{left}})
	}
	got := counted(c, 2)
	if got.to[0] != 10 || !math.IsInf(got.to[1], 1) || got.left != 0.05 {
		t.Errorf("%+v", got)
	}
}
