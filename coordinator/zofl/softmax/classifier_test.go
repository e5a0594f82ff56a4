package softmax

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/data"
)

func sequence(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func random(n int, seed uint64) []float32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(0.05 * rng.NormFloat64())
	}
	return out
}

// slow is the definition of loss and gradient, in float64 throughout.
func (s *Classifier) slow(params []float32, batch []int) (loss float64, grad []float64) {
	grad = make([]float64, s.Dim())
	logits := make([]float64, s.classes)
	bias := s.classes * s.features
	for _, i := range batch {
		x := s.images[i*s.features : (i+1)*s.features]
		most := math.Inf(-1)
		for c := range logits {
			logits[c] = float64(params[bias+c])
			for k, v := range x {
				logits[c] += float64(v) * float64(params[c*s.features+k])
			}
			most = max(most, logits[c])
		}
		var sum float64
		for _, z := range logits {
			sum += math.Exp(z - most)
		}
		label := int(s.labels[i])
		loss += math.Log(sum) + most - logits[label]
		for c, z := range logits {
			d := math.Exp(z-most) / sum
			if c == label {
				d--
			}
			d /= float64(len(batch))
			for k, v := range x {
				grad[c*s.features+k] += d * float64(v)
			}
			grad[bias+c] += d
		}
	}
	return loss / float64(len(batch)), grad
}

// noise returns n images of any shape: uniform pixels and labels.
func noise(n, rows, cols, classes int) *data.Images {
	rng := rand.New(rand.NewPCG(9, 9))
	im := &data.Images{Rows: rows, Cols: cols, Classes: classes,
		Pixels: make([]uint8, n*rows*cols), Labels: make([]uint8, n)}
	for i := range im.Pixels {
		im.Pixels[i] = uint8(rng.Uint32())
	}
	for i := range im.Labels {
		im.Labels[i] = uint8(rng.IntN(classes))
	}
	return im
}

// Shapes and batches that do not fill the tiles and the segments.
func TestLossIsItsDefinition(t *testing.T) {
	for _, shape := range [][3]int{{28, 28, 10}, {1, 1, 2}, {7, 16, 3}, {5, 23, 1}, {3, 3, 256},
		{8, 28, 7}} {
		s := New(noise(20, shape[0], shape[1], shape[2]), 0.5, 0.3)
		for _, n := range []int{1, 2, 3, 8, 19} {
			params := random(s.Dim(), uint64(n))
			batch := sequence(20)[20-n:]
			want, _ := s.slow(params, batch)
			got := s.Loss(params, batch)
			if math.Abs(got-want) > 1e-6*max(want, 1) {
				t.Errorf("%v, %d images: got %v, want %v", shape, n, got, want)
			}
			if also, _ := Mean(s, params, batch); also != got {
				t.Errorf("%v, %d images: Mean gives loss %v, Loss %v", shape, n, also, got)
			}
		}
	}
}

// The directional derivative by a central difference, as a client forms it,
// against the analytic one.
func TestFiniteDifferences(t *testing.T) {
	s := New(data.Digits(500, 1), data.MNISTMean, data.MNISTStd)
	const mu = 1e-3
	params := random(s.Dim(), 1)
	for seed := range uint64(10) {
		batch := data.NewBatcher(sequence(s.Len())).Pick(32, seed)
		_, grad := s.slow(params, batch)
		direction := random(s.Dim(), 100+seed)
		plus, minus := slices.Clone(params), slices.Clone(params)
		var want float64
		for i, z := range direction {
			plus[i] += float32(mu * z)
			minus[i] -= float32(mu * z)
			want += float64(z) * grad[i]
		}
		got := (s.Loss(plus, batch) - s.Loss(minus, batch)) / (2 * mu)
		if math.Abs(got-want) > 2e-4 {
			t.Errorf("batch %d: difference quotient %v, derivative %v", seed, got, want)
		}
	}
}

func TestGradientIsItsDefinition(t *testing.T) {
	for _, shape := range [][3]int{{28, 28, 10}, {1, 1, 2}, {7, 16, 3}} {
		s := New(noise(20, shape[0], shape[1], shape[2]), 0.5, 0.3)
		params, batch := random(s.Dim(), 1), sequence(7)
		got := make([]float32, s.Dim())
		for i := range got {
			got[i] = 1
		}
		loss := s.Gradient(got, params, batch)
		wantLoss, want := s.slow(params, batch)
		if math.Abs(loss-wantLoss) > 1e-6 {
			t.Errorf("%v: got loss %v, want %v", shape, loss, wantLoss)
		}
		for i, g := range got {
			if math.Abs(float64(g)-1-want[i]) > 1e-6 {
				t.Fatalf("%v: parameter %d: got %v, want %v", shape, i, g, 1+want[i])
			}
		}
	}
}

func TestLossOfZeros(t *testing.T) {
	for _, classes := range []int{2, 10} {
		s := New(noise(50, 6, 6, classes), 0, 1)
		got := s.Loss(make([]float32, s.Dim()), sequence(50))
		if want := math.Log(float64(classes)); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d classes: got %v, want ln %d = %v", classes, got, classes, want)
		}
	}
}

// Logits of a thousand overflow exp unless the largest is taken out.
func TestLossIsStable(t *testing.T) {
	s := New(noise(4, 2, 2, 3), 0, 1)
	s.labels = []uint8{0, 1, 2, 0}
	params := make([]float32, s.Dim())
	copy(params[12:], []float32{1000, 0, -1000})
	loss, accuracy := Mean(s, params, []int{0, 1, 2, 3})
	if loss != 750 || accuracy != 0.5 {
		t.Errorf("got loss %v and accuracy %v, want 750 and 0.5", loss, accuracy)
	}
}

func TestEvaluate(t *testing.T) {
	s := New(data.Digits(1000, 2), data.MNISTMean, data.MNISTStd)
	params := random(s.Dim(), 3)
	wantLoss, wantAccuracy := Mean(s, params, sequence(1000))
	first, _ := Evaluate(s, params, 1)
	for _, goroutines := range []int{-1, 1, 2, 7} {
		loss, accuracy := Evaluate(s, params, goroutines)
		if loss != first || math.Abs(loss-wantLoss) > 1e-12 || accuracy != wantAccuracy {
			t.Errorf("%d goroutines: got %v and %v, want %v and %v",
				goroutines, loss, accuracy, wantLoss, wantAccuracy)
		}
	}
}

func TestLossConcurrently(t *testing.T) {
	s := New(data.Digits(200, 1), data.MNISTMean, data.MNISTStd)
	params := random(s.Dim(), 1)
	want := s.Loss(params, sequence(32))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if got := s.Loss(params, sequence(32)); got != want {
					t.Errorf("got %v, want %v", got, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestLossAllocatesNothing(t *testing.T) {
	s := New(data.Digits(64, 1), data.MNISTMean, data.MNISTStd)
	params, batch := random(s.Dim(), 1), sequence(33)
	if got := testing.AllocsPerRun(10, func() { s.Loss(params, batch) }); got != 0 {
		t.Errorf("%v allocations a call", got)
	}
}

// TestSumByClass: SumByClass adds, for each class, the sum of a minibatch of that class alone. The
// sums of all classes add up to the sum of the whole minibatch.
func TestSumByClass(t *testing.T) {
	s := New(noise(40, 5, 23, 3), 0.5, 0.3)
	params, batch := random(s.Dim(), 1), sequence(40)[:37]
	sums, counts := []float64{100, 0, 0}, []int{7, 0, 0}
	s.SumByClass(params, batch, sums, counts)
	for c, all := range [][]int{{}, {}, {}} {
		for _, i := range batch {
			if int(s.labels[i]) == c {
				all = append(all, i)
			}
		}
		want, _ := s.slow(params, all)
		if want *= float64(len(all)); c == 0 {
			sums[0], counts[0] = sums[0]-100, counts[0]-7
		}
		if math.Abs(sums[c]-want) > 1e-5*want || counts[c] != len(all) {
			t.Errorf("class %d: %v of %d, want %v of %d", c, sums[c], counts[c], want, len(all))
		}
	}
	if got := s.Labels(batch); !slices.Equal(got, counts) {
		t.Errorf("labels %v, want %v", got, counts)
	}
	total, _ := s.Sum(params, batch)
	if got := sums[0] + sums[1] + sums[2]; math.Abs(got-total) > 1e-9*total {
		t.Errorf("all classes have %v, want %v", got, total)
	}
	if got := testing.AllocsPerRun(10, func() { s.SumByClass(params, batch, sums, counts) }); got > 0 {
		t.Errorf("%v allocations a call", got)
	}
}

func TestLossPanics(t *testing.T) {
	s := New(noise(4, 2, 2, 3), 0, 1)
	good := make([]float32, s.Dim())
	for name, f := range map[string]func(){
		"short parameters": func() { s.Loss(good[1:], []int{0}) },
		"long parameters":  func() { s.Loss(append(good, 0), []int{0}) },
		"empty batch":      func() { s.Loss(good, nil) },
		"no such image":    func() { s.Loss(good, []int{0, 4}) },
		"two classes":      func() { s.SumByClass(good, []int{0}, make([]float64, 2), make([]int, 3)) },
		"std 0":            func() { New(noise(1, 1, 1, 2), 0, 0) },
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

// train minimizes the loss by minibatch gradient descent, and returns what a
// test set says about the result.
func train(t *testing.T, training, test *data.Images, steps int) (loss, accuracy float64) {
	t.Helper()
	s := New(training, data.MNISTMean, data.MNISTStd)
	batcher := data.NewBatcher(sequence(s.Len()))
	params := make([]float32, s.Dim())
	for step := range steps {
		_, grad := s.slow(params, batcher.Pick(32, uint64(step)))
		rate := 0.05 / (1 + float64(step)/150)
		for i, g := range grad {
			params[i] -= float32(rate * g)
		}
	}
	return Evaluate(New(test, data.MNISTMean, data.MNISTStd), params, 2)
}

// The drawn digits are about as hard for a linear classifier as MNIST is.
func TestGradientDescentOnDigits(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	loss, accuracy := train(t, data.Digits(10000, 1), data.Digits(2000, 2), 500)
	t.Logf("test loss %.4f, accuracy %.4f", loss, accuracy)
	if accuracy < 0.90 || accuracy > 0.97 {
		t.Errorf("accuracy %.4f, want 0.90 to 0.97", accuracy)
	}
}

// TestGradientDescentOnMNIST needs the published files: ZOFL_DATA names the
// directory that holds mnist/.
func TestGradientDescentOnMNIST(t *testing.T) {
	root := os.Getenv("ZOFL_DATA")
	if root == "" {
		t.Skip("set ZOFL_DATA to a directory with MNIST's four IDX files in mnist/ to run this test")
	}
	training, test, err := data.MNIST(filepath.Join(root, "mnist"))
	if err != nil {
		t.Fatal(err)
	}
	loss, accuracy := train(t, training, test, 500)
	t.Logf("test loss %.4f, accuracy %.4f", loss, accuracy)
	if accuracy < 0.90 || accuracy > 0.93 {
		t.Errorf("accuracy %.4f, want 0.90 to 0.93", accuracy)
	}
}
