package models

import (
	"math"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/papers/tables"
)

func rowsOf(n, features, classes int) *tables.Table {
	return &tables.Table{Features: features, Classes: classes, Values: random(n*features, 5),
		Labels: noise(n, 1, 1, classes).Labels}
}

// slowNet is the definition for one hidden layer or none, in float64 throughout.
func slowNet(t *tables.Table, hidden int, p []float32, i int) (loss float64, right bool) {
	x := make([]float64, t.Features)
	for k, v := range t.At(i) {
		x[k] = float64(v)
	}
	layer := func(x []float64, out int, weights []float32) []float64 {
		y := make([]float64, out)
		for o := range y {
			y[o] = float64(weights[out*len(x)+o])
			for k, v := range x {
				y[o] += v * float64(weights[o*len(x)+k])
			}
		}
		return y
	}
	if hidden > 0 {
		h := layer(x, hidden, p)
		for k := range h {
			h[k] = math.Max(h[k], 0)
		}
		p, x = p[hidden*(t.Features+1):], h
	}
	logits := layer(x, t.Classes, p)
	var sum float64
	label, right := int(t.Labels[i]), true
	for c, z := range logits {
		sum += math.Exp(z)
		right = right && (z <= logits[label] || c == label)
	}
	return math.Log(sum) - logits[label], right
}

func TestNetIsItsDefinition(t *testing.T) {
	table := rowsOf(150, 7, 5)
	for hidden, want := range map[int]int{0: 40, 6: 7*6 + 6 + 6*5 + 5} {
		var layers []int
		if hidden > 0 {
			layers = []int{hidden}
		}
		m := NewNet(table, layers...)
		if m.Dim() != want {
			t.Fatalf("%d hidden units: %d parameters, want %d", hidden, m.Dim(), want)
		}
		params := random(m.Dim(), 3)
		for i := range params {
			params[i] *= 30 // enough for rectifiers and classes to matter
		}
		for _, n := range []int{1, 3, 150} {
			var sum, right float64
			for i := range n {
				loss, ok := slowNet(table, hidden, params, i)
				sum += loss
				if ok {
					right++
				}
			}
			loss, accuracy := softmax.Mean(m, params, sequence(n))
			if math.Abs(loss-sum/float64(n)) > 1e-5 || accuracy != right/float64(n) {
				t.Errorf("%d hidden units, %d rows: %v and %v, want %v and %v",
					hidden, n, loss, accuracy, sum/float64(n), right/float64(n))
			}
		}
		all, _ := softmax.Evaluate(m, params, 3)
		if math.Abs(all-m.Loss(params, sequence(150))) > 1e-9 {
			t.Errorf("%d hidden units: Evaluate and Loss differ", hidden)
		}
		params[0] = float32(math.NaN())
		if loss := m.Loss(params, sequence(3)); !math.IsNaN(loss) {
			t.Errorf("%d hidden units: loss %v of a NaN", hidden, loss)
		}
	}
}

func TestNetSegments(t *testing.T) {
	table := rowsOf(3, 4, 2)
	for _, m := range []*Net{NewNet(table), NewNet(table, 8, 3)} {
		var sum uint64
		for _, s := range m.Segments() {
			sum += s.Len
		}
		if sum != uint64(m.Dim()) {
			t.Errorf("segments of %d parameters, want %d", sum, m.Dim())
		}
	}
	if list := Initial(NewNet(table), 1); list[0] != 0 {
		t.Error("softmax regression does not begin at zero")
	}
	if list := Initial(NewNet(table, 8), 1); list[0] == 0 || math.Abs(float64(list[0])) > .5 {
		t.Errorf("a hidden layer begins with %v", list[0])
	}
}

var _ Differentiable = (*Net)(nil)

// The gradient against central differences of the definition in float64, one parameter after
// another, on more than a chunk of rows, and added to what was there.
func TestNetGradient(t *testing.T) {
	table := rowsOf(150, 7, 5)
	for _, hidden := range []int{0, 6} {
		m := NewNet(table)
		if hidden > 0 {
			m = NewNet(table, hidden)
		}
		params, grad, batch := random(m.Dim(), 3), make([]float32, m.Dim()), sequence(150)
		for i := range params {
			params[i] *= 3
		}
		fill(grad, 1)
		loss := m.Gradient(grad, params, batch)
		if want := m.Loss(params, batch); math.Abs(loss-want) > 1e-12 {
			t.Errorf("%d hidden units: loss %v, want %v", hidden, loss, want)
		}
		at := func(i int, v float32) (sum float64) {
			was := params[i]
			params[i] = v
			for row := range 150 {
				loss, _ := slowNet(table, hidden, params, row)
				sum += loss / 150
			}
			params[i] = was
			return sum
		}
		for i, v := range params {
			const mu = 1e-4
			above, below := v+mu, v-mu
			want := (at(i, above) - at(i, below)) / (float64(above) - float64(below))
			if got := float64(grad[i]) - 1; !(math.Abs(got-want) <= 1e-4) {
				t.Errorf("%d hidden units, parameter %d: got %v, want %v", hidden, i, got, want)
			}
		}
	}
}
