package attack

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/papers/models/train"
)

// naive computes the logits of one image by the definition of the layers.
func naive(m *Net, params []float32, pixel func(y, x int) float64) []float64 {
	side, channels := m.images.Rows, 1
	value := func(_, y, x int) float64 { return pixel(y, x) }
	for _, l := range []*layer{&m.one, &m.two} {
		before, side0, channels0 := value, side, channels
		out := make([]float64, l.out*l.side*l.side)
		for o := range l.out {
			for y := range l.side {
				for x := range l.side {
					s := float64(params[l.bias()+o])
					for c := range channels0 {
						for ky := range 5 {
							for kx := range 5 {
								iy, ix := 2*y+ky-2, 2*x+kx-2
								if iy >= 0 && ix >= 0 && iy < side0 && ix < side0 {
									s += float64(params[l.weight+((o*channels0+c)*5+ky)*5+kx]) * before(c, iy, ix)
								}
							}
						}
					}
					out[(o*l.side+y)*l.side+x] = max(s, 0)
				}
			}
		}
		n := l.side
		value = func(c, y, x int) float64 { return out[(c*n+y)*n+x] }
		side, channels = l.side, l.out
	}
	logits := make([]float64, m.images.Classes)
	for k := range logits {
		logits[k] = float64(params[m.dim-m.images.Classes+k])
		for c := range channels {
			for y := range side {
				for x := range side {
					f := (c*side+y)*side + x
					logits[k] += float64(params[m.dense+k*m.features()+f]) * value(c, y, x)
				}
			}
		}
	}
	return logits
}

func sequence(from, to int) []int {
	list := make([]int, to-from)
	for i := range list {
		list[i] = from + i
	}
	return list
}

func TestLogits(t *testing.T) {
	im := data.Digits(70, 1)
	m := New(im)
	params := models.Initial(m, 1)
	for _, n := range []int{1, 3, 32, 5} {
		ws := m.take(n)
		batch := sequence(10, 10+n)
		m.load(ws, batch)
		got := m.run(ws, params)
		for i, at := range batch {
			want := naive(m, params, func(y, x int) float64 { return float64(im.At(at)[y*28+x])/255 - .5 })
			for c, w := range want {
				if math.Abs(float64(got[c*n+i])-w) > 1e-5 {
					t.Fatalf("%d images: logit %d of image %d is %v, want %v", n, c, i, got[c*n+i], w)
				}
			}
		}
		m.spaces.Put(ws)
	}
}

// TestGradient compares with differences along random directions.
func TestGradient(t *testing.T) {
	m := New(data.Digits(60, 2))
	params, batch := models.Initial(m, 3), sequence(5, 50)
	grad := make([]float32, m.Dim())
	loss := m.Gradient(grad, params, batch)
	if want := m.Loss(params, batch); math.Abs(loss-want) > 1e-6 {
		t.Errorf("loss %v, want %v", loss, want)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	at := uint64(0)
	for _, s := range m.Segments() {
		u := make([]float32, m.Dim())
		for i := range u[at : at+s.Len] {
			u[at+uint64(i)] = float32(rng.NormFloat64())
		}
		at += s.Len
		got, near, h := 0.0, [2][]float32{}, 2e-4
		for side := range near {
			for i, v := range params {
				near[side] = append(near[side], v+float32(float64(1-2*side)*h)*u[i])
			}
		}
		for i, g := range grad {
			got += float64(g) * float64(u[i])
		}
		want := (m.Loss(near[0], batch) - m.Loss(near[1], batch)) / (2 * h)
		if math.Abs(got-want) > 0.02*math.Abs(want)+1e-3 {
			t.Errorf("%s: slope %v, want %v", s.Name, got, want)
		}
	}
}

func TestEvaluate(t *testing.T) {
	m := New(data.Digits(700, 2))
	params := models.Initial(m, 3)
	loss, accuracy := softmax.Evaluate(m, params, 3)
	if l, a := softmax.Mean(m, params, sequence(0, 700)); math.Abs(loss-l) > 1e-12 || accuracy != a {
		t.Errorf("got %v, %v, want %v, %v", loss, accuracy, l, a)
	}
	class := uint8(4)
	for _, i := range m.Right(params, class) {
		if _, a := softmax.Mean(m, params, []int{i}); m.images.Labels[i] != class || a != 1 {
			t.Errorf("image %d, a %d, is not classified right", i, m.images.Labels[i])
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
	for name, want := range map[string]float64{"mnist": 0.985, "fashion-mnist": 0.87} {
		training, test, err := data.MNIST(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		start, last := time.Now(), train.Progress{}
		m := New(training)
		_, err = train.Train(t.Context(), m, train.Config{Epochs: 4, Test: New(test), Goroutines: 2,
			Progress: func(p train.Progress) error {
				last = p
				t.Logf("%s, %d parameters: %.1f s: %+v", name, m.Dim(), time.Since(start).Seconds(), p)
				return nil
			}})
		if err != nil || last.Accuracy < want {
			t.Errorf("%s: accuracy %.4f, want %v; %v", name, last.Accuracy, want, err)
		}
	}
}

func BenchmarkNet(b *testing.B) {
	im := data.Digits(100, 1)
	m := New(im)
	params, grad := models.Initial(m, 1), make([]float32, m.Dim())
	batch := sequence(0, 25)
	rate := func(b *testing.B) {
		b.ReportMetric(float64(b.N)*float64(len(batch))/b.Elapsed().Seconds(), "images/s")
	}
	b.Run("loss", func(b *testing.B) {
		for b.Loop() {
			m.Loss(params, batch)
		}
		rate(b)
	})
	b.Run("gradient", func(b *testing.B) {
		for b.Loop() {
			m.Gradient(grad, params, batch)
		}
		rate(b)
	})
}
