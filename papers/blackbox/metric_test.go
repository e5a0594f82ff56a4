package blackbox

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/papers/tables"
)

// planted returns a table in the manner of Covertype: classes that are apart by their
// first features, of which the last is rare, and a feature that is constant.
func planted(n int) *tables.Table {
	t, rng := &tables.Table{Features: 54, Classes: 7}, stream(9, 0)
	for range n {
		label := rng.IntN(61) / 10
		for f := range 54 {
			v := rng.Float32() / 2
			switch f {
			case label:
				v += 0.5
			case 53:
				v = 0
			}
			t.Values = append(t.Values, v)
		}
		t.Labels = append(t.Labels, uint8(label))
	}
	return t
}

func metric(t testing.TB, dir string, c MetricConfig) *Metric {
	t.Helper()
	c.Cache, c.Epochs = dir, 40
	m, err := NewMetric(context.Background(), planted(2000), c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMetric compares every score of every client with the definition: with the answers of the
// slow network on the client's rows, counted one by one.
func TestMetric(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	dir := t.TempDir()
	for _, score := range Scores {
		m := metric(t, dir, MetricConfig{Score: score, Portion: 0.5, Clients: 3, Rows: 300, Seed: 4})
		x, rng := make([]float32, m.Dim()), stream(2, 0)
		m.Start(x, 0)
		for range 3 {
			for i := range m.Clients() {
				got, want := m.Local(i)(x), slowMetric(m, i, x)
				if math.Abs(got-want) > 1e-12 || !(got >= 0 && got <= 1) {
					t.Errorf("%v: f_%d is %v, by its definition %v", score, i, got, want)
				}
			}
			for j := range x {
				x[j] = 0.5 * (2*rng.Float32() - 1) // beyond the box, too
			}
		}
		if a, b := m.Local(0)(x), m.Local(1)(x); a == b {
			t.Errorf("%v: two clients have the same value %v", score, a)
		}
		if x[7] = float32(math.NaN()); !math.IsNaN(m.Local(0)(x)) {
			t.Errorf("%v: f_0 of NaN is a number", score)
		}
	}
	if files, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(files) != 1 {
		t.Errorf("files %v, want the one MLP of all", files)
	}
}

// slowMetric computes the metric by its definition, on the rows in the client's chunks.
func slowMetric(m *Metric, i int, x []float32) float64 {
	params := make([]float32, len(x))
	for j, v := range x {
		params[j] = m.theta[j] + min(max(v, -0.2), 0.2)
	}
	s, at := m.clients[i], 0
	var c confusion
	for _, chunk := range s.chunks {
		n := len(chunk) / 54
		for r := range n {
			var row []float32
			for f := range 54 {
				row = append(row, chunk[f*n+r])
			}
			logits := slowLogits(params, row)
			c[s.labels[at]][slices.Index(logits, slices.Max(logits))]++
			at++
		}
	}
	return 1 - c.macro(m.score)
}

// The MLP learns, and shares have the rows that they should.
func TestMetricShares(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	m := metric(t, t.TempDir(), MetricConfig{Portion: 0.5, Rows: 260})
	if m.Clients() != 7 || m.Dim() != 2189 {
		t.Errorf("%d clients and %d parameters", m.Clients(), m.Dim())
	}
	for i, s := range m.clients {
		if len(s.labels) != 260 || len(s.chunks) != 2 || len(s.chunks[1]) != 4*54 {
			t.Errorf("client %d has %d rows in %d chunks", i, len(s.labels), len(s.chunks))
		}
		for _, label := range s.labels {
			if len(m.Classes(i)) != 3 || !slices.Contains(m.Classes(i), int(label)) {
				t.Errorf("client %d of classes %v has a row of %d", i, m.Classes(i), label)
			}
		}
	}
	all := metric(t, t.TempDir(), MetricConfig{Score: Recall, Rows: 5000})
	if n := len(all.clients[0].labels); n != 1000 {
		t.Errorf("a client of more rows than there are has %d, want half of 2000", n)
	}
	if !slices.Equal(all.clients[0].labels, all.clients[6].labels) {
		t.Error("with P = 1 two clients have different rows")
	}
	if f := Mean(all)(make([]float32, 2189)); f > 0.3 {
		t.Errorf("1 - recall of the trained MLP is %v", f)
	}
}

func TestStandardized(t *testing.T) {
	half, rest := standardized(planted(501))
	if half.Len() != 250 || rest.Len() != 251 {
		t.Errorf("%d and %d rows, want 250 and 251", half.Len(), rest.Len())
	}
	rows := append(slices.Clone(half.Values), rest.Values...)
	for f := range 54 {
		var mean, square float64
		for i := range 501 {
			v := float64(rows[i*54+f])
			mean += v / 501
			square += v * v / 501
		}
		if want := min(float64(53-f), 1); !(math.Abs(mean) < 1e-5 && math.Abs(square-want) < 1e-5) {
			t.Errorf("feature %d: mean %v and square %v, want 0 and %v", f, mean, square, want)
		}
	}
}

func TestMetricRefuses(t *testing.T) {
	for want, c := range map[string]MetricConfig{
		"Portion is 0.1":    {Portion: 0.1},
		"Portion is NaN":    {Portion: math.NaN()},
		"Rows -1":           {Rows: -1},
		"Score is Score(4)": {Score: 4},
	} {
		c.Cache, c.Epochs = t.TempDir(), 1
		if _, err := NewMetric(context.Background(), planted(100), c); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	other := &tables.Table{Features: 3, Classes: 7}
	if _, err := NewMetric(context.Background(), other, MetricConfig{}); err == nil ||
		!strings.Contains(err.Error(), "3 features") {
		t.Errorf("got %v, want the features", err)
	}
}

func TestMetricAllocates(t *testing.T) {
	m := randomMetric(300)
	f, x := m.Local(0), make([]float32, mlpDim)
	if n := testing.AllocsPerRun(10, func() { f(x) }); n > 0 {
		t.Errorf("%v allocations a query", n)
	}
}

// randomMetric returns the metric of an untrained MLP on a number of rows.
func randomMetric(rows int) *Metric {
	from := randomRows(rows)
	m := &Metric{theta: make([]float32, mlpDim), clients: make([]share, 1)}
	for i := range m.theta {
		m.theta[i] = float32(i%7-3) / 10
	}
	m.clients[0].take(from, stream(1, 0).Perm(rows))
	return m
}

func BenchmarkMetric(b *testing.B) {
	f, x := randomMetric(1000).Local(0), make([]float32, mlpDim)
	for b.Loop() {
		f(x)
	}
}

// TestMetricOnCovertype trains the MLP on the published table, which ZOFL_DATA has in
// tables/. ZOFL_TRAIN=1 asks for the minute that it takes, unless it is in the cache.
func TestMetricOnCovertype(t *testing.T) {
	root := os.Getenv("ZOFL_DATA")
	if root == "" || os.Getenv("ZOFL_TRAIN") == "" {
		t.Skip("set ZOFL_TRAIN=1, and ZOFL_DATA to a directory with the table in tables/, to " +
			"run this test: it takes a minute")
	}
	table, err := tables.Covertype(filepath.Join(root, "tables"))
	if err != nil {
		t.Fatal(err)
	}
	for _, score := range Scores {
		for _, p := range []float64{0.3, 1} {
			m, err := NewMetric(context.Background(), table,
				MetricConfig{Score: score, Portion: p, Goroutines: 2, Logf: t.Logf})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%v, P = %v: F(0) is %.4f", score, p, Mean(m)(make([]float32, m.Dim())))
		}
	}
}
