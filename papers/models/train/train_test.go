package train

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/papers/models"
)

func digits(n int, seed uint64) *models.CNN {
	return models.NewCNNSmall(data.Digits(n, seed), data.MNISTMean, data.MNISTStd)
}

func TestTrainOnDigits(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	training, test := digits(1000, 1), digits(300, 2)
	for name, cfg := range map[string]Config{
		"Adam":     {},
		"Momentum": {Optimizer: Momentum},
	} {
		var reports []Progress
		cfg.Goroutines, cfg.Batch, cfg.Test = 2, 32, test
		cfg.Progress = func(p Progress) error { reports = append(reports, p); return nil }
		params, err := Train(context.Background(), training, cfg)
		if err != nil {
			t.Fatal(err)
		}
		loss, accuracy := softmax.Evaluate(test, params, 2)
		t.Logf("%s: test loss %.4f, accuracy %.4f", name, loss, accuracy)
		if accuracy < 0.88 {
			t.Errorf("%s: accuracy %.4f, want 0.88 at least", name, accuracy)
		}
		if len(reports) != 2 || reports[1].Step != 64 || reports[1].Steps != 64 ||
			reports[1].TestLoss != loss || reports[1].Accuracy != accuracy ||
			reports[1].Loss > reports[0].Loss {
			t.Errorf("%s: reports %+v", name, reports)
		}
	}
}

// bowl is the loss mean over the batch of sum_i (x_i - at_i)^2 / 2, at = 0, 1, 2...
type bowl struct{ models.Model }

func (bowl) Dim() int { return 3 }
func (bowl) Len() int { return 5 }
func (bowl) Gradient(grad, params []float32, batch []int) (loss float64) {
	for i, x := range params {
		for _, at := range batch {
			d := x - float32(at+i)
			grad[i] += d / float32(len(batch))
			loss += float64(d) * float64(d) / 2 / float64(len(batch))
		}
	}
	return loss
}

// Steps against what PyTorch's optimizers compute, written out. The minibatch is
// all samples, so the gradient is x - (2, 3, 4), in uneven pieces.
func TestOptimizers(t *testing.T) {
	start := []float32{1, -1, 4}
	for name, tt := range map[string]struct {
		cfg  Config
		move func(x, m, v, g, step float64, n int) (x1, m1, v1 float64)
	}{
		"Adam": {Config{}, func(x, m, v, g, step float64, n int) (float64, float64, float64) {
			m, v = 0.9*m+0.1*g, 0.999*v+0.001*g*g
			mHat, vHat := m/(1-math.Pow(0.9, float64(n))), v/(1-math.Pow(0.999, float64(n)))
			return x - step*mHat/(math.Sqrt(vHat)+1e-8), m, v
		}},
		"Momentum": {Config{Optimizer: Momentum, Beta: 0.5},
			func(x, m, v, g, step float64, n int) (float64, float64, float64) {
				m = 0.5*m + g
				return x - step*m, m, v
			}},
	} {
		cfg := tt.cfg
		cfg.Epochs, cfg.Batch, cfg.Step, cfg.WarmUp, cfg.Initial = 10, 5, 0.1, 0.2, start
		got, err := Train(context.Background(), bowl{}, cfg)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			x, m, v := float64(start[i]), 0.0, 0.0
			for n := 1; n <= 10; n++ {
				step := 0.1 * (float64(n) - 0.5) / 2
				if n > 2 {
					step = 0.1 * (10.5 - float64(n)) / 8
				}
				x, m, v = tt.move(x, m, v, x-float64(i+2), step, n)
			}
			if math.Abs(float64(got[i])-x) > 1e-5 {
				t.Errorf("%s: parameter %d: got %v, want %v", name, i, got[i], x)
			}
		}
	}
	if !slices.Equal(start, []float32{1, -1, 4}) {
		t.Error("Initial was changed")
	}
}

// Every report has the mean of the losses since the one before: here all are
// equal, as the step is nothing.
func TestReports(t *testing.T) {
	var reports []Progress
	_, err := Train(context.Background(), bowl{},
		Config{Epochs: 9, Batch: 5, Step: 1e-20, EvalEvery: 4,
			Initial:  []float32{2, 3, 5}, // loss 1, 1 and 3/2
			Progress: func(p Progress) error { reports = append(reports, p); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	steps := []int{}
	for _, p := range reports {
		steps = append(steps, p.Step)
		if math.Abs(p.Loss-3.5) > 1e-6 || p.Steps != 9 {
			t.Errorf("got %+v, want loss 3.5 and 9 steps", p)
		}
	}
	if !slices.Equal(steps, []int{4, 8, 9}) {
		t.Errorf("reports at steps %v, want 4, 8, 9", steps)
	}
}

func TestTrainIgnoresGoroutines(t *testing.T) {
	m := digits(101, 1)
	var want []float32
	for _, n := range []int{1, 2, 3, 9} {
		got, err := Train(context.Background(), m, Config{Epochs: 1, Batch: 30, Goroutines: n})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d goroutines give other parameters than 1", n)
		}
	}
	other, err := Train(context.Background(), m, Config{Epochs: 1, Batch: 30, Seed: 1})
	if err != nil || slices.Equal(other, want) {
		t.Errorf("another seed gives the same parameters, or %v", err)
	}
}

func TestTrainStops(t *testing.T) {
	m := digits(200, 1)
	ctx, cancel := context.WithCancel(context.Background())
	reports := 0
	params, err := Train(ctx, m, Config{Batch: 10,
		Progress: func(Progress) error { reports++; cancel(); return nil }})
	if !errors.Is(err, context.Canceled) || len(params) != m.Dim() || reports != 1 {
		t.Errorf("got %v after %d reports, with %d parameters", err, reports, len(params))
	}
	stop := errors.New("stop")
	if _, err = Train(context.Background(), m,
		Config{Progress: func(Progress) error { return stop }}); err != stop {
		t.Errorf("got %v, want the error of Progress", err)
	}
	steps := 0
	_, err = Train(context.Background(), m, Config{Batch: 10, EvalEvery: 3, Test: m, Target: 0.01,
		Progress: func(p Progress) error { steps = p.Step; return nil }})
	if err != nil || steps != 3 {
		t.Errorf("got %v after step %d, want none after 3: the target is low", err, steps)
	}
	if _, err := Train(context.Background(), m,
		Config{Optimizer: Momentum, Step: 1e9}); err == nil ||
		!strings.Contains(err.Error(), "take a smaller Step than 1e+09") {
		t.Errorf("a step of 1e9: got %v", err)
	}
}

func TestTrainRefuses(t *testing.T) {
	m := digits(2, 1)
	for want, cfg := range map[string]Config{
		"Optimizer is 2":               {Optimizer: 2},
		"Batch -1":                     {Batch: -1},
		"Epochs -1":                    {Epochs: -1},
		"Step is -1":                   {Step: -1},
		"Step is +Inf":                 {Step: math.Inf(1)},
		"Beta is 1":                    {Beta: 1},
		"WarmUp is 1":                  {WarmUp: 1},
		"Initial has 3 parameters":     {Initial: make([]float32, 3)},
		"Target is 0.5, but there is ": {Target: 0.5},
	} {
		if _, err := Train(context.Background(), m, cfg); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestTrainOnMNIST needs the published files: ZOFL_DATA names the directory that
// holds mnist/ and fashion-mnist/. ZOFL_TRAIN=1 asks for the minutes that it takes.
func TestTrainOnMNIST(t *testing.T) {
	root := os.Getenv("ZOFL_DATA")
	if root == "" || os.Getenv("ZOFL_TRAIN") == "" {
		t.Skip("set ZOFL_TRAIN=1, and ZOFL_DATA to a directory with the IDX files in mnist/ and " +
			"fashion-mnist/, to run this test: it takes minutes")
	}
	for _, tt := range []struct {
		dir    string
		make   func(*data.Images, float64, float64) *models.CNN
		epochs int
		want   float64
	}{
		{"mnist", models.NewCNNSmall, 2, 0.985},
		{"mnist", models.NewCNNMNIST, 1, 0.985},
		{"fashion-mnist", models.NewCNNSmall, 3, 0.88},
	} {
		training, test, err := data.MNIST(filepath.Join(root, tt.dir))
		if err != nil {
			t.Fatal(err)
		}
		m, held := tt.make(training, 0.5, 1), tt.make(test, 0.5, 1)
		start := time.Now()
		var last Progress
		_, err = Train(context.Background(), m,
			Config{Epochs: tt.epochs, Test: held, Goroutines: 2, EvalEvery: 469,
				Progress: func(p Progress) error {
					last = p
					t.Logf("%s, %d parameters, %s: %.1f s: %+v", tt.dir, m.Dim(), models.BLAS(),
						time.Since(start).Seconds(), p)
					return nil
				}})
		if err != nil || last.Accuracy < tt.want {
			t.Errorf("%s, %d parameters: accuracy %.4f, want %.3f; %v", tt.dir, m.Dim(),
				last.Accuracy, tt.want, err)
		}
	}
}
