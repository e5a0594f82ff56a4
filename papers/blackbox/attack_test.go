package blackbox

import (
	"context"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/papers/models"
)

// The network, asked for one image, is the model that was trained.
func TestNetIsTheModel(t *testing.T) {
	im := data.Digits(20, 1)
	m := models.NewCNNTwoDense(im, data.MNISTMean, data.MNISTStd)
	params := models.Initial(m, 1)
	n, p, want := newNet(params), newPass(), make([]float32, classes)
	image := make([]float32, pixels)
	for i := range im.Len() {
		for k, ink := range im.At(i) {
			image[k] = (float32(ink)/255 - data.MNISTMean) / data.MNISTStd
			p.set(k, image[k])
		}
		m.Logits(want, params, image)
		for c, v := range n.forward(p) {
			if math.Abs(float64(v-want[c])) > 1e-5 {
				t.Fatalf("image %d, logit %d: got %v, want %v", i, c, v, want[c])
			}
		}
	}
}

// smallAttack is of models that are trained in a second, on digits that were drawn.
func smallAttack(t testing.TB, dir string, c AttackConfig) *Attack {
	t.Helper()
	c.Cache, c.Goroutines = dir, 2
	a, err := NewAttack(context.Background(), data.Digits(800, 1), data.Digits(400, 2), c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAttack(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	dir := t.TempDir()
	a := smallAttack(t, dir, AttackConfig{Portion: 0.5, Clients: 3, Images: 4})
	if a.Len() != 4 {
		t.Fatalf("%d images, want 4", a.Len())
	}
	zero := make([]float32, pixels)
	for k := range a.Len() {
		target := a.Target(k)
		for i := range target.Clients() {
			if f := target.Local(i)(zero); !(f > 0) || !slices.Contains(a.Classes(i), target.Class()) {
				t.Errorf("image %d of class %d: model %d of classes %v has margin %v",
					k, target.Class(), i, a.Classes(i), f)
			}
		}
		if target.Success(zero) {
			t.Errorf("image %d: success without a perturbation", k)
		}
	}
	t.Run("perturbed", func(t *testing.T) { testPerturbed(t, a.Target(0)) })
	t.Run("cached", func(t *testing.T) {
		again := smallAttack(t, dir,
			AttackConfig{Portion: 0.5, Clients: 3, Images: 4, Logf: func(format string, _ ...any) {
				if strings.Contains(format, "step") {
					t.Error("a model was trained again")
				}
			}})
		x := slices.Repeat([]float32{0.1}, pixels)
		if got, want := Mean(again.Target(3))(x), Mean(a.Target(3))(x); got != want {
			t.Errorf("F is %v with models of the cache, %v before", got, want)
		}
		files, err := filepath.Glob(filepath.Join(dir, "cnn-*"))
		if err != nil || len(files) != 3 {
			t.Errorf("files %v, want one for each of three sets of classes", files)
		}
	})
	t.Run("on average", func(t *testing.T) {
		a := smallAttack(t, dir,
			AttackConfig{Portion: 1, Clients: 2, Images: 30, OnAverage: true, Epochs: 1})
		if a.nets[0] != a.nets[1] || !slices.Equal(a.Classes(0), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
			t.Error("with P = 1 two clients have different models")
		}
		for k := range a.Len() {
			if f := Mean(a.Target(k))(zero); !(f > 0) {
				t.Errorf("image %d: F(0) is %v", k, f)
			}
		}
	})
}

// testPerturbed holds Local against the model's own margin at clip(z+x), and follows the
// differences of F downhill to a success.
func testPerturbed(t *testing.T, target *Target) {
	x, rng := make([]float32, pixels), stream(1, 0)
	mean, margins := Mean(target), make([]float64, target.Clients())
	for range 5 {
		for j := range x {
			x[j] = 0.8*rng.Float32() - 0.4
		}
		target.Margins(margins, x)
		var sum float64
		for i, m := range margins {
			if f := target.Local(i)(x); f != m {
				t.Errorf("f_%d is %v, in Margins %v", i, f, m)
			}
			if want := slowMargin(target, i, x); math.Abs(m-want) > 1e-4 {
				t.Errorf("f_%d is %v, by its definition %v", i, m, want)
			}
			sum += m
		}
		if f := mean(x); math.Abs(f-sum/float64(len(margins))) > 1e-12 || target.Success(x) != (f < 0) {
			t.Errorf("F is %v, success %v, of margins %v", f, target.Success(x), margins)
		}
	}
	clear(x)
	gradient := make([]float64, pixels)
	for round := 0; !target.Success(x); round++ {
		if round == 9 {
			t.Fatalf("F is %v after %d steps downhill", mean(x), round)
		}
		f := mean(x)
		for j, old := range x {
			if row, column := j/side, j%side; min(row, column) >= 5 && max(row, column) < 23 { // enough here
				x[j] += 0.01
				gradient[j], x[j] = mean(x)-f, old
			}
		}
		for j, g := range gradient {
			if g != 0 {
				x[j] = clamp(x[j]-float32(math.Copysign(0.1, g)), -attackSide, attackSide)
			}
		}
	}
	x[5] = float32(math.NaN())
	if f := target.Local(0)(x); !math.IsNaN(f) {
		t.Errorf("f_0 of NaN is %v", f)
	}
}

func slowMargin(target *Target, i int, x []float32) float64 {
	p := newPass()
	for k, z := range target.image {
		v := min(max(float64(z)+min(max(float64(x[k]), -0.3), 0.3), 0), 1)
		p.set(k, float32((v-0.1307)/0.3081))
	}
	logits := slices.Clone(target.attack.nets[i].forward(p))
	own := logits[target.class]
	return float64(own - slices.Max(slices.Delete(logits, target.class, target.class+1)))
}

func TestDrawSharing(t *testing.T) {
	rng, sets := stream(1, 0), make([]classSet, 10)
	for _, n := range []int{3, 5, 7, 9, 10} {
		if err := drawSharing(rng, n, 10, sets); err != nil {
			t.Fatal(err)
		}
		all := ^classSet(0)
		for _, s := range sets {
			if all &= s; bits.OnesCount32(uint32(s)) != n || s >= 1<<10 || len(s.list()) != n {
				t.Errorf("drew %b, want %d of 10 classes", s, n)
			}
		}
		if all == 0 {
			t.Errorf("draws of %d classes have none in common", n)
		}
	}
	if n, err := portion(0.7, 10); n != 7 || err != nil {
		t.Errorf("0.7 of 10 is %d, %v", n, err)
	}
}

func TestAttackRefuses(t *testing.T) {
	im := data.Digits(30, 1)
	for want, c := range map[string]AttackConfig{
		"Portion is 1.1":     {Portion: 1.1},
		"Portion is 0.05":    {Portion: 0.05},
		"Clients -1":         {Clients: -1},
		"the models are rig": {Images: 31, Epochs: 1},
	} {
		c.Cache = t.TempDir()
		if _, err := NewAttack(context.Background(), im, im, c); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := NewAttack(context.Background(), im, &data.Images{Rows: 28, Cols: 28, Classes: 9},
		AttackConfig{}); err == nil ||
		!strings.Contains(err.Error(), "28x28 in 9 classes") {
		t.Errorf("nine classes: got %v", err)
	}
}

func TestTargetAllocates(t *testing.T) {
	target := randomTarget()
	f, x := target.Local(0), make([]float32, pixels)
	if n := testing.AllocsPerRun(10, func() { f(x) }); n > 0 {
		t.Errorf("%v allocations a query", n)
	}
}

// randomTarget is of a model that is not trained: it takes as long.
func randomTarget() *Target {
	im := data.Digits(1, 1)
	params := models.Initial(models.NewCNNTwoDense(im, data.MNISTMean, data.MNISTStd), 1)
	return newTarget(&Attack{nets: []*net{newNet(params)}}, im, 0)
}

func BenchmarkTarget(b *testing.B) {
	target := randomTarget()
	f, x := target.Local(0), make([]float32, pixels)
	for b.Loop() {
		f(x)
	}
}

// One image: by the net, and by the model that it is laid out from.
func BenchmarkNet(b *testing.B) {
	im := data.Digits(1, 1)
	m := models.NewCNNTwoDense(im, data.MNISTMean, data.MNISTStd)
	params, image, logits := models.Initial(m, 1), make([]float32, pixels), make([]float32, classes)
	n, p := newNet(params), newPass()
	for k, ink := range im.At(0) {
		image[k] = float32(ink) / 255
		p.set(k, image[k])
	}
	b.Run("net", func(b *testing.B) {
		for b.Loop() {
			n.forward(p)
		}
	})
	b.Run("model", func(b *testing.B) {
		for b.Loop() {
			m.Logits(logits, params, image)
		}
	})
}

// TestAttackOnMNIST trains ten models on the published images, which ZOFL_DATA has in
// mnist/. ZOFL_TRAIN=1 asks for the minutes that it takes, unless they are in the cache.
func TestAttackOnMNIST(t *testing.T) {
	root := os.Getenv("ZOFL_DATA")
	if root == "" || os.Getenv("ZOFL_TRAIN") == "" {
		t.Skip("set ZOFL_TRAIN=1, and ZOFL_DATA to a directory with the IDX files in mnist/, " +
			"to run this test: it takes minutes")
	}
	train, test, err := data.MNIST(filepath.Join(root, "mnist"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewAttack(context.Background(), train, test,
		AttackConfig{Portion: 0.7, Goroutines: 2, Logf: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	for k := range a.Len() {
		target, margins := a.Target(k), make([]float64, 10)
		target.Margins(margins, make([]float32, pixels))
		t.Logf("image %d of class %d: margins %.1f", k, target.Class(), margins)
		if !(slices.Min(margins) > 0) {
			t.Errorf("image %d: a model is wrong", k)
		}
	}
}
