package models

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/papers/tables"
	"github.com/zofl/zofl/plan"
)

var (
	_ Differentiable = (*softmax.Classifier)(nil)
	_ Differentiable = (*CNN)(nil)
	_ Model          = (*Linear)(nil)
	_ Model          = (*MLP)(nil)
)

// full returns the features of sample i in full.
func (s *Samples) full(i int) []float64 {
	x := make([]float64, s.features)
	if s.sparse == nil {
		for k, v := range s.row(i) {
			x[k] = float64(v)
		}
		return x
	}
	index, value := s.sparse.At(i)
	for k, at := range index {
		x[at] = float64(value[k])
	}
	return x
}

// slowMargin is y*(w.x + b) from its definition.
func (s *Samples) slowMargin(i int, w []float32, b float64) float64 {
	for k, v := range s.full(i) {
		b += v * float64(w[k])
	}
	return s.sign[i] * b
}

// binaries returns the models of two classes on dense and sparse samples, each
// with the loss of one sample from its definition.
func binaries() map[string]struct {
	Model
	slow func(params []float32, i int) float64
} {
	type entry = struct {
		Model
		slow func(params []float32, i int) float64
	}
	out := map[string]entry{}
	table := &tables.Table{Features: 3, Classes: 2, Values: random(300, 5),
		Labels: noise(100, 1, 1, 2).Labels}
	for name, s := range map[string]*Samples{
		"images": ImageSamples(data.Digits(300, 1).Halves(), data.MNISTMean, data.MNISTStd),
		"odd":    ImageSamples(noise(100, 5, 7, 2), 0.5, 0.3),
		"table":  TableSamples(table),
		"sparse": SparseSamples(tables.Planted(300, 1)),
	} {
		f := s.features
		out["logistic "+name] = entry{NewLogistic(s, true), func(p []float32, i int) float64 {
			return math.Log(1 + math.Exp(-s.slowMargin(i, p, float64(p[f]))))
		}}
		out["plain logistic "+name] = entry{NewLogistic(s, false),
			func(p []float32, i int) float64 {
				return math.Log(1 + math.Exp(-s.slowMargin(i, p, 0)))
			}}
		out["svm "+name] = entry{NewSVM(s, true), func(p []float32, i int) float64 {
			return max(0, 1-s.slowMargin(i, p, float64(p[f])))
		}}
		const hidden = 6
		out["mlp "+name] = entry{NewMLP(s, hidden), func(p []float32, i int) float64 {
			x, z := s.full(i), float64(p[hidden*(f+2)])
			for h := range hidden {
				a := float64(p[hidden*f+h])
				for k, v := range x {
					a += v * float64(p[h*f+k])
				}
				z += float64(p[hidden*(f+1)+h]) / (1 + math.Exp(-a))
			}
			q := 1 / (1 + math.Exp(-z))
			if s.sign[i] < 0 {
				q = 1 - q
			}
			return -math.Log(q)
		}}
	}
	return out
}

func TestBinaryLossIsItsDefinition(t *testing.T) {
	for name, m := range binaries() {
		params := random(m.Dim(), 3)
		for _, n := range []int{1, 3, 70} {
			batch := data.NewBatcher(sequence(m.Len())).Pick(n, uint64(n))
			var want float64
			for _, at := range batch {
				want += m.slow(params, at) / float64(n)
			}
			got, accuracy := softmax.Mean(m, params, batch)
			if !(math.Abs(got-want) < 1e-6) {
				t.Errorf("%s, %d samples: got %v, want %v", name, n, got, want)
			}
			right := 0
			for _, at := range batch {
				limit := math.Ln2
				if len(name) > 3 && name[:3] == "svm" {
					limit = 1
				}
				if m.slow(params, at) < limit { // a positive margin
					right++
				}
			}
			if want := float64(right) / float64(n); accuracy != want {
				t.Errorf("%s, %d samples: accuracy %v, want %v", name, n, accuracy, want)
			}
			if also := m.Loss(params, batch); also != got {
				t.Errorf("%s: Loss gives %v, Metrics %v", name, also, got)
			}
		}
	}
}

// By hand: the sample 3 of class 1, and the sample -2 of class 0, which is -1.
func TestBinaryByHand(t *testing.T) {
	s := TableSamples(&tables.Table{Features: 1, Classes: 2, Values: []float32{3, -2},
		Labels: []uint8{1, 0}})
	for _, tt := range []struct {
		m                  *Linear
		params             []float32
		want0, want1, part float64
	}{
		{NewSVM(s, true), []float32{0.25, -1}, 1 - (0.75 - 1), 1 - (0.5 + 1), 0.5},
		{NewSVM(s, false), []float32{-1}, 4, 3, 0},
		{NewLogistic(s, false), []float32{1}, math.Log(1 + math.Exp(-3)),
			math.Log(1 + math.Exp(-2)), 1},
	} {
		loss, accuracy := softmax.Mean(tt.m, tt.params, []int{0, 1})
		if want := (tt.want0 + max(tt.want1, 0)) / 2; math.Abs(loss-want) > 1e-12 ||
			accuracy != tt.part {
			t.Errorf("got loss %v and accuracy %v, want %v and %v", loss, accuracy, want, tt.part)
		}
	}
}

func TestBinaryDims(t *testing.T) {
	s := ImageSamples(data.Digits(2, 1).Halves(), 0, 1)
	for _, tt := range []struct {
		m    Model
		want int
	}{{NewLogistic(s, true), 785}, {NewLogistic(s, false), 784}, {NewSVM(s, true), 785},
		{NewMLP(s, 50), 39301}} {
		if got := tt.m.Dim(); got != tt.want {
			t.Errorf("%T: %d parameters, want %d", tt.m, got, tt.want)
		}
	}
}

// What a plan takes: segments that cover the parameters, and fills that Initial
// follows.
func TestSegments(t *testing.T) {
	all := map[string]Model{"softmax": softmax.New(noise(2, 3, 3, 4), 0, 1)}
	for name, m := range networks() {
		all[name] = m
	}
	for name, m := range binaries() {
		all[name] = m
	}
	for name, m := range all {
		x, again := Initial(m, 1), Initial(m, 1)
		if !slices.Equal(x, again) || len(x) != m.Dim() {
			t.Errorf("%s: Initial returns %d parameters, want %d, the same each time", name,
				len(x), m.Dim())
		}
		var n uint64
		for _, s := range m.Segments() {
			if s.Name == "" || s.Len == 0 || n+s.Len > uint64(m.Dim()) {
				t.Fatalf("%s: segment %+v after %d of %d", name, s, n, m.Dim())
			}
			var most, sum float32
			for _, v := range x[n : n+s.Len] {
				most = max(most, v, -v)
				sum += v / float32(s.Len)
			}
			filled := s.Fill == plan.UniformFill && s.Scale > 0
			if filled && (most == 0 || most > s.Scale) || !filled &&
				(s.Fill != plan.ZeroFill || most != 0) {
				t.Errorf("%s: segment %+v has an element of %v", name, s, most)
			}
			if filled && s.Len > 1000 && (most < 0.95*s.Scale || max(sum, -sum) > 0.1*s.Scale) {
				t.Errorf("%s: segment %+v has elements up to %v and mean %v", name, s, most, sum)
			}
			n += s.Len
		}
		if n != uint64(m.Dim()) {
			t.Errorf("%s: segments of %d parameters, want %d", name, n, m.Dim())
		}
	}
}

func TestBinaryEvaluate(t *testing.T) {
	s := SparseSamples(tables.Planted(600, 2))
	for _, m := range []Model{NewLogistic(s, true), NewSVM(s, false), NewMLP(s, 3)} {
		params := random(m.Dim(), 3)
		wantLoss, wantAccuracy := softmax.Mean(m, params, sequence(600))
		for _, goroutines := range []int{0, 1, 3} {
			loss, accuracy := softmax.Evaluate(m, params, goroutines)
			if math.Abs(loss-wantLoss) > 1e-12 || accuracy != wantAccuracy {
				t.Errorf("%T, %d goroutines: got %v and %v, want %v and %v",
					m, goroutines, loss, accuracy, wantLoss, wantAccuracy)
			}
		}
	}
}

// Margins of a thousand overflow exp one way and are lost the other.
func TestLogLossIsStable(t *testing.T) {
	for _, tt := range []struct{ margin, want float64 }{
		{0, math.Ln2}, {-1000, 1000}, {1000, 0}, {50, math.Exp(-50)}, {-50, 50},
	} {
		if got := logLoss(tt.margin); math.Abs(got-tt.want) > 1e-12*tt.want {
			t.Errorf("margin %v: got %v, want %v", tt.margin, got, tt.want)
		}
	}
}

func TestBinaryConcurrently(t *testing.T) {
	for name, m := range binaries() {
		params, batch := random(m.Dim(), 1), sequence(66)
		want := m.Loss(params, batch)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 5 {
					if got := m.Loss(params, batch); got != want {
						t.Errorf("%s: got %v, want %v", name, got, want)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestBinaryAllocatesNothing(t *testing.T) {
	for name, m := range binaries() {
		params, batch := random(m.Dim(), 1), sequence(66)
		if got := testing.AllocsPerRun(2, func() { m.Loss(params, batch) }); got != 0 {
			t.Errorf("%s: %v allocations a call", name, got)
		}
	}
}

func TestBinaryPanics(t *testing.T) {
	m := NewLogistic(SparseSamples(tables.Planted(2, 1)), false)
	good := make([]float32, m.Dim())
	for name, f := range map[string]func(){
		"long parameters":  func() { m.Loss(append(good, 0), []int{0}) },
		"empty batch":      func() { m.Loss(good, nil) },
		"no such sample":   func() { m.Loss(good, []int{2}) },
		"ten classes":      func() { ImageSamples(data.Digits(2, 1), 0, 1) },
		"std 0":            func() { ImageSamples(noise(2, 2, 2, 2), 0, 0) },
		"no hidden units":  func() { NewMLP(m.Samples, 0) },
		"table of classes": func() { TableSamples(&tables.Table{Features: 1, Classes: 7}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
