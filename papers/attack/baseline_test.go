package attack

import (
	"math"
	"reflect"
	"testing"
)

// bowl returns a fleet in which the loss of client i is minimal where x equals the mean of the
// numbers of the client's samples.
func bowl(clients int) Fleet {
	f := Fleet{Dim: 6, Batch: 3, Mean: 40, Mu: 1e-4, Seed: 9, Workers: 2}
	f.Loss = func(x []float32, batch []int) (loss float64) {
		for _, b := range batch {
			for i, v := range x {
				d := float64(v) - float64(b%(i+2))
				loss += d * d / 2 / float64(len(batch))
			}
		}
		return loss
	}
	for i := range clients {
		f.Shares = append(f.Shares, []int{i, i + 1, i + 5})
	}
	return f
}

// exact returns the gradient of a client of bowl, whose minibatches are its whole share.
func (f *Fleet) exact(x []float32, client int) []float64 {
	g := make([]float64, f.Dim)
	for i, v := range x {
		for _, b := range f.Shares[client] {
			g[i] += (float64(v) - float64(b%(i+2))) / float64(len(f.Shares[client]))
		}
	}
	return g
}

// TestEstimates checks that the mean of many estimates is the gradient, for both kinds of
// directions.
func TestEstimates(t *testing.T) {
	for _, sphere := range []bool{true, false} {
		f := bowl(3)
		f.Mean = 20_000
		x, g := random(f.Dim, 1, 2), make([]float32, f.Dim)
		f.gradient(g, x, 1, 5, sphere)
		for i, want := range f.exact(x, 1) {
			if math.Abs(float64(g[i])-want) > 0.1 {
				t.Errorf("sphere %v: element %d is %v, want %v", sphere, i, g[i], want)
			}
		}
	}
}

// TestDraws checks that directions differ between clients and between rounds.
func TestDraws(t *testing.T) {
	f := bowl(2)
	f.Shares[1] = f.Shares[0]
	x := random(f.Dim, 1, 2)
	draw := func(client int, n uint64) []float32 {
		g := make([]float32, f.Dim)
		f.gradient(g, x, client, n, true)
		return g
	}
	first := draw(0, 1)
	if !reflect.DeepEqual(first, draw(0, 1)) {
		t.Error("the same draw differs")
	}
	if reflect.DeepEqual(first, draw(1, 1)) || reflect.DeepEqual(first, draw(0, 2)) {
		t.Error("two clients or rounds have the same directions")
	}
}

// TestDZOPA compares a round with the printed equation.
func TestDZOPA(t *testing.T) {
	f := bowl(4)
	f.Step = 0.05
	a := NewDZOPA(f)
	for i := range a.x {
		copy(a.x[i], random(f.Dim, 1, uint64(i)))
	}
	var want [][]float64
	for i := range a.x {
		g, row := make([]float32, f.Dim), make([]float64, f.Dim)
		a.gradient(g, a.x[i], i, 3, true)
		for e := range row {
			row[e] = float64(a.x[i][e]) - 0.05*float64(g[e])
			for j := range a.x {
				laplacian := -1.0
				if i == j {
					laplacian = 3
				}
				row[e] -= 0.01 * laplacian * float64(a.x[j][e])
			}
		}
		want = append(want, row)
	}
	a.Round(3)
	for i, row := range want {
		for e, w := range row {
			if math.Abs(float64(a.x[i][e])-w) > 1e-5 {
				t.Errorf("agent %d, element %d: %v, want %v", i, e, a.x[i][e], w)
			}
		}
	}
}

// TestZONES: the primal-dual steps are those of SAGA, x -= eta (G_i(x) - kept_i +
// mean of kept), which l is the negative of.
func TestZONES(t *testing.T) {
	f := bowl(5)
	f.Step = 0.1
	s := NewZONES(f)
	x, kept := make([]float64, f.Dim), make([][]float64, 5)
	for i := range kept {
		kept[i] = make([]float64, f.Dim)
	}
	moved := map[int]bool{}
	for n := uint64(1); n <= 12; n++ {
		before := append([]float32(nil), s.x...)
		duals := vectors(5, f.Dim)
		for i := range duals {
			copy(duals[i], s.duals[i])
		}
		s.Round(n)
		for i := range duals {
			if reflect.DeepEqual(duals[i], s.duals[i]) {
				continue
			}
			moved[i] = true
			g := make([]float32, f.Dim)
			f.gradient(g, before, i, n, false)
			for e := range x {
				mean := 0.0
				for _, k := range kept {
					mean += k[e] / 5
				}
				x[e] -= 0.1 * (float64(g[e]) - kept[i][e] + mean)
				if math.Abs(x[e]-float64(s.x[e])) > 1e-4 {
					t.Fatalf("round %d, element %d: %v, want %v", n, e, s.x[e], x[e])
				}
			}
			for e := range x {
				kept[i][e] = float64(g[e])
			}
		}
	}
	if len(moved) < 3 {
		t.Errorf("only %d of 5 clients were chosen in 12 rounds", len(moved))
	}
}

// TestConverge checks that both methods converge to a zero of the mean gradient, and that the
// result has the same bits for any number of goroutines.
func TestConverge(t *testing.T) {
	run := func(workers int) (list []Baseline) {
		f := bowl(4)
		f.Step, f.Workers = 0.1, workers
		list = []Baseline{NewDZOPA(f), NewZONES(f)}
		for _, b := range list {
			for n := uint64(1); n <= 400; n++ {
				b.Round(n)
			}
		}
		return list
	}
	f := bowl(4)
	three := run(3)
	for at, b := range run(1) {
		x := b.X()
		for i := range x {
			mean := 0.0
			for client := range 4 {
				mean += f.exact(x, client)[i] / 4
			}
			if math.Abs(mean) > 0.2 {
				t.Errorf("%T: slope %v by element %d, want 0", b, mean, i)
			}
		}
		if !reflect.DeepEqual(x, three[at].X()) {
			t.Errorf("%T: it depends on the number of goroutines", b)
		}
	}
	if q := NewDZOPA(f).Queries(); q != 4*2*40 {
		t.Errorf("DZOPA asks %d losses a round, want 320", q)
	}
	if q := NewZONES(f).Queries(); q != 2*40 {
		t.Errorf("ZONE-S asks %d losses a round, want 80", q)
	}
}
