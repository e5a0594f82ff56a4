package blackbox

import (
	"math"
	"testing"

	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/papers/tables"
)

// randomRows returns rows of random features and labels.
func randomRows(n int) *tables.Table {
	m, rng := &tables.Table{Features: widths[0], Classes: 7}, stream(5, 0)
	for range n {
		m.Labels = append(m.Labels, uint8(rng.IntN(7)))
		for range widths[0] {
			m.Values = append(m.Values, float32(rng.NormFloat64()))
		}
	}
	return m
}

// slow is the mean loss by its definition, in float64.
func slow(m *tables.Table, params []float32, batch []int) (loss float64) {
	for _, at := range batch {
		var p [7]float64
		var sum float64
		for c, z := range slowLogits(params, m.At(at)) {
			p[c] = z
			sum += math.Exp(z)
		}
		loss += (math.Log(sum) - p[m.Labels[at]]) / float64(len(batch))
	}
	return loss
}

func slowLogits(params, row []float32) []float64 {
	var x []float64
	for _, v := range row {
		x = append(x, float64(v))
	}
	for l, out := range []int{30, 14, 7} {
		next := make([]float64, out)
		for o := range next {
			next[o] = float64(params[out*len(x)+o])
			for i, v := range x {
				next[o] += v * float64(params[o*len(x)+i])
			}
			if l < 2 {
				next[o] = max(next[o], 0)
			}
		}
		params, x = params[out*(len(x)+1):], next
	}
	return x
}

func TestMLPIsItsDefinition(t *testing.T) {
	rows := randomRows(600)
	m := newMLP(rows)
	if mlpDim != 2189 {
		t.Errorf("%d parameters, the paper has 2,189", mlpDim)
	}
	params, batch := models.Initial(m, 1), stream(1, 0).Perm(600)
	grad := make([]float32, mlpDim)
	want := slow(rows, params, batch)
	if got := m.Gradient(grad, params, batch); math.Abs(got-want) > 1e-6*want ||
		math.Abs(m.Loss(params, batch)-want) > 1e-6*want {
		t.Errorf("loss %v of Gradient, %v of Loss, want %v", got, m.Loss(params, batch), want)
	}
	// Each layer's part of the gradient against a central difference along it; short, as
	// rectifiers have kinks.
	at := 0
	for _, s := range m.Segments() {
		part := grad[at : at+int(s.Len)]
		var square float64
		for _, g := range part {
			square += float64(g) * float64(g)
		}
		const mu = 1e-4
		moved := func(by float64) float64 {
			to := append([]float32(nil), params...)
			for i, g := range part {
				to[at+i] += float32(by * float64(g) / math.Sqrt(square))
			}
			return slow(rows, to, batch)
		}
		got, want := (moved(mu)-moved(-mu))/(2*mu), math.Sqrt(square)
		if math.Abs(got-want) > 5e-3*want {
			t.Errorf("%s: the derivative along the gradient is %v, want its norm %v", s.Name, got, want)
		}
		at += int(s.Len)
	}
	if at != mlpDim {
		t.Errorf("segments of %d parameters", at)
	}
}

// Worked examples. Labels and answers of the first: scikit-learn's documentation of the
// macro average, with y_true 0 1 2 0 1 2 and y_pred 0 2 1 0 0 1: precision 0.22...,
// recall 0.33..., F1 0.26..., and by hand Jaccard (2/3 + 0 + 0)/3.
func TestMacro(t *testing.T) {
	for _, tt := range []struct {
		name           string
		labels, answer []int
		want           [4]float64 // by Scores
	}{
		{"documentation", []int{0, 1, 2, 0, 1, 2}, []int{0, 2, 1, 0, 0, 1},
			[4]float64{2. / 9, 1. / 3, 0.8 / 3, 2. / 9}},
		{"all right", []int{3, 3, 5}, []int{3, 3, 5}, [4]float64{1, 1, 1, 1}},
		// Class 6 is no row's: it counts as a class of which nothing is right.
		{"absent class", []int{1, 1, 1, 2}, []int{1, 1, 6, 2},
			[4]float64{2. / 3, (2./3 + 1) / 3, (0.8 + 1) / 3, (2./3 + 1) / 3}},
		{"all wrong", []int{0, 1}, []int{1, 0}, [4]float64{}},
		{"no row", nil, nil, [4]float64{}},
	} {
		var c confusion
		for i, label := range tt.labels {
			c[label][tt.answer[i]]++
		}
		for k, s := range Scores {
			if got := c.macro(s); math.Abs(got-tt.want[k]) > 1e-12 {
				t.Errorf("%s: %v is %v, want %v", tt.name, s, got, tt.want[k])
			}
		}
	}
}
