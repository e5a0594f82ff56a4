package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/stats"
)

// shares are the rows of devices, as unlike as they come: one has a row, one has none, and one has
// many. Columns are of unlike size; one is far from 0, one is constant, one has gaps.
func shares() (shares [][][]float64) {
	rng := rand.New(rand.NewPCG(4, 0))
	for _, n := range []int{1, 0, 500, 20} {
		var rows [][]float64
		for range n {
			gap := rng.NormFloat64()
			if gap > 1 {
				gap = math.NaN()
			}
			rows = append(rows, []float64{1e-3 * rng.NormFloat64(), 1e9 + rng.NormFloat64(), 0.1, gap,
				-700 + 1e3*rng.ExpFloat64() + float64(n)})
		}
		shares = append(shares, rows)
	}
	return shares
}

const columns = 5

// direct computes a column's statistics in two passes.
func direct(shares [][][]float64, column int) (c plan.Column) {
	var values []float64
	for _, rows := range shares {
		for _, row := range rows {
			if v := row[column]; v == v {
				values = append(values, v)
			} else {
				c.Missing++
			}
		}
	}
	least, greatest := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		c.Mean += (v - values[0]) / float64(len(values))
		least, greatest = min(least, v), max(greatest, v)
	}
	c.Mean += values[0]
	for _, v := range values {
		c.Std += (v - c.Mean) * (v - c.Mean)
	}
	c.Count, c.Std = uint64(len(values)), math.Sqrt(c.Std/float64(len(values)))
	c.Min, c.Max = &least, &greatest
	return c
}

func near(a, b, within float64) bool {
	return math.Abs(a-b) <= within*max(math.Abs(a), math.Abs(b))
}

// check compares statistics with those of all rows together.
func check(t *testing.T, got []plan.Column, want [][][]float64, extremes bool) {
	t.Helper()
	if len(got) != columns {
		t.Fatalf("%d columns", len(got))
	}
	for i, c := range got {
		w := direct(want, i)
		if c.Count != w.Count || c.Missing != w.Missing || !near(c.Mean, w.Mean, 1e-12) {
			t.Errorf("column %d: got %+v, want %+v", i, c, w)
		}
		// 1e9 and a spread of 1: what is left of a float64
		if math.Abs(c.Std-w.Std) > 1e-9*w.Std+2e-9 {
			t.Errorf("column %d: std %v, want %v", i, c.Std, w.Std)
		}
		switch {
		case !extremes && (c.Min != nil || c.Max != nil):
			t.Errorf("column %d: a sum has extremes", i)
		case extremes && (!near(*c.Min, *w.Min, 1e-13) || !near(*c.Max, *w.Max, 1e-13)):
			t.Errorf("column %d: from %v to %v, want %v to %v", i, *c.Min, *c.Max, *w.Min, *w.Max)
		}
	}
}

func described(rows [][]float64) []plan.Column {
	a := stats.New(columns)
	for _, row := range rows {
		stats.Add(a, row)
	}
	return a.Columns()
}

// TestPool: what devices send gives the statistics of all rows together, in any order.
func TestPool(t *testing.T) {
	all, p := shares(), &plan.Plan{}
	p.Columns = columns
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}} {
		var answers [][]plan.Column
		for _, i := range order {
			values, err := stats.Append(nil, described(all[i]))
			if err != nil {
				t.Fatal(err)
			}
			read, ok := stats.Read(values)
			if !ok || len(values) != stats.Values(p) {
				t.Fatalf("device %d: %d values are refused", i, len(values))
			}
			answers = append(answers, read)
		}
		pooled, out := stats.Pool(p, answers)
		check(t, pooled, all, true)
		if out != nil {
			t.Errorf("honest devices are left out: %v", out)
		}
	}
}

// TestWords: sums of words give the statistics of all rows together.
func TestWords(t *testing.T) {
	all, p := shares(), &plan.Plan{}
	p.Columns, p.Secure = columns, 1
	sum := make([]uint32, stats.Values(p))
	for i := range all {
		words, err := stats.AppendWords(nil, described(all[i]))
		if err != nil || len(words) != len(sum) {
			t.Fatalf("device %d: %d words, %v", i, len(words), err)
		}
		for k, w := range words {
			sum[k] += w
		}
	}
	got, ok := stats.ReadWords(sum)
	if !ok {
		t.Fatal("honest sums are refused")
	}
	// 1e9 and a spread of 1: squares have 64 bits below the point, and means 52
	if std := got[1].Std; !near(std, direct(all, 1).Std, 1e-6) {
		t.Errorf("std %v far from 0", std)
	}
	got[1].Std = direct(all, 1).Std
	check(t, got, all, false)
	if got[2].Std != 0 {
		t.Errorf("equal values have std %v", got[2].Std)
	}
	if _, err := stats.AppendWords(nil, stats.Of([][]float64{{1e30}})); err == nil {
		t.Error("a value that fits in no sum is taken")
	}
}

// TestMostDevices: the words of 4,096 devices do not overflow.
func TestMostDevices(t *testing.T) {
	words, err := stats.AppendWords(nil, []plan.Column{{Count: 1 << 20, Mean: -1e9, Std: 1e9}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range words {
		words[i] *= 4096
	}
	got, ok := stats.ReadWords(words)
	if !ok || got[0].Count != 1<<32 || got[0].Mean != -1e9 || got[0].Std != 1e9 {
		t.Errorf("got %+v, %v", got, ok)
	}
}

// TestRefuses: answers that are of no data are refused.
func TestRefuses(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	honest := []float32{3, 0, 1, 0, 5, 0, 2, 0, 1, 0, 8, 0}
	if _, ok := stats.Read(honest); !ok {
		t.Fatal("an honest answer is refused")
	}
	for at, values := range map[int][]float32{
		0: {-1, 0.5, nan, inf, 1e15}, 2: {-3, nan}, 4: {nan, inf, 9, 0}, 6: {-1, nan, 4},
		8: {nan, 6, -inf}, 10: {nan, 4, inf},
	} {
		for _, v := range values {
			bad := append([]float32(nil), honest...)
			bad[at] = v
			if got, ok := stats.Read(bad); ok {
				t.Errorf("number %d is %v: read as %+v", at, v, got)
			}
		}
	}
	if _, ok := stats.Read(honest[1:]); ok {
		t.Error("an answer that lacks a number is read")
	}
	sums := make([]uint32, 18)
	sums[0], sums[4] = 2, 1<<20 // a mean without squares
	sums[9] = 1 << 19
	if got, ok := stats.ReadWords(sums); ok {
		t.Errorf("sums of no data are read as %+v", got)
	}
	for i := range sums {
		sums[i] = math.MaxUint32
	}
	if got, ok := stats.ReadWords(sums); ok {
		t.Errorf("sums of no data are read as %+v", got)
	}
}

// TestOutliers: a device whose column is far from all others is left out of that column and named.
func TestOutliers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var answers [][]plan.Column
	var honest [][]float64
	for i := range 6 {
		var rows [][]float64
		for range 50 {
			rows = append(rows, []float64{rng.NormFloat64(), 5 + rng.NormFloat64()})
		}
		if i == 4 {
			for _, row := range rows {
				row[1] *= 1e9
			}
		} else {
			honest = append(honest, rows...)
		}
		answers = append(answers, stats.Of(rows))
	}
	p := &plan.Plan{}
	p.Columns, p.Bound = 2, 8
	got, out := stats.Pool(p, answers)
	want := stats.Of(honest)
	if len(out) != 1 || out[0].Answer != 4 || got[0].Count != 300 ||
		!near(got[1].Mean, want[1].Mean, 1e-12) {
		t.Errorf("got %+v without %v, want %+v", got, out, want)
	}
	p.Bound = 0
	if got, out := stats.Pool(p, answers); out != nil || got[1].Count != 300 {
		t.Errorf("without a bound %v are left out", out)
	}
	// With weights=samples nobody counts for more than claim_bound medians.
	p.Weights, p.ClaimBound = plan.BySamples, 8
	answers[0][0].Count = 1 << 30
	if got, _ := stats.Pool(p, answers); got[0].Count != 8*50+250 {
		t.Errorf("a claim of 2^30 rows counts: %d", got[0].Count)
	}
}

// TestScaler: scaled rows have mean 0 and standard deviation 1; what is missing or constant is 0.
func TestScaler(t *testing.T) {
	all := shares()
	answers := [][]plan.Column{}
	for i := range all {
		answers = append(answers, described(all[i]))
	}
	p := &plan.Plan{}
	p.Columns = columns
	pooled, _ := stats.Pool(p, answers)
	s := stats.NewScaler(pooled)
	var rows [][]float64
	for _, share := range all {
		for _, row := range share {
			scaled := make([]float64, columns)
			for i, v := range row {
				scaled[i] = s.Scale(i, v)
			}
			rows = append(rows, scaled)
		}
	}
	for i, c := range stats.Of(rows) {
		switch {
		case i == 2 && (c.Mean != 0 || c.Std != 0):
			t.Errorf("a constant column is scaled: %+v", c)
		case i != 2 && i != 3 && (math.Abs(c.Mean) > 1e-6 || math.Abs(c.Std-1) > 1e-6):
			t.Errorf("column %d: %+v", i, c)
		}
	}
	row := []float32{float32(math.NaN()), float32(math.Inf(1)), 5, 0, 1}
	if s.Apply(row); row[0] != 0 || row[1] != 0 || row[2] != 0 || row[3] == 0 {
		t.Errorf("scaled %v", row)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(uint32(3), uint32(1), uint32(5), uint32(2), uint32(1), uint32(8))
	f.Fuzz(func(t *testing.T, a, b, c, d, e, g uint32) {
		var values []float32
		for _, v := range []uint32{a, b, c, d, e, g} {
			values = append(values, math.Float32frombits(v), 0)
		}
		if columns, ok := stats.Read(values); ok {
			p := &plan.Plan{}
			p.Columns, p.Bound = 1, 8
			got, _ := stats.Pool(p, [][]plan.Column{columns, columns, columns})
			stats.NewScaler(got)
		}
		stats.ReadWords([]uint32{a, b, c, d, e, g, a, b, c, d, e, g, a, b, c, d, e, g})
	})
}

// TestWordsAreThoseOfThePage: other versions read these words, so they never change.
func TestWordsAreThoseOfThePage(t *testing.T) {
	words, err := stats.AppendWords(nil, []plan.Column{{Count: 1, Missing: 3, Mean: -1}})
	const all = 1<<20 - 1
	want := []uint32{1, 0, 3, 0, 0, 0, all - 4095, all, all, all, 0, 0, 0, 16, 0, 0, 0, 0}
	if err != nil || !slices.Equal(words, want) {
		t.Errorf("got %v, %v, want %v", words, err, want)
	}
}
