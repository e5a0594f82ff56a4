package models

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/plan"
)

// direct computes the logits by the definition of the network, with direct convolutions in
// float64.
func (m *CNN) direct(params []float32, image []float64) []float64 {
	x := directConvolution(&m.one, params, image)
	x = directConvolution(&m.two, params, x)
	for k, l := range m.dense {
		out := make([]float64, l.out)
		for o := range out {
			out[o] = float64(params[l.bias()+o])
			for i, v := range x {
				out[o] += v * float64(params[l.weight+o*l.in+i])
			}
			if k+1 < len(m.dense) {
				out[o] = max(out[o], 0)
			}
		}
		x = out
	}
	return x
}

// directConvolution computes a convolution of an input [in][rows][cols]; the result is
// [out][rows][cols].
func directConvolution(c *convolution, params []float32, in []float64) []float64 {
	rows, cols := c.wide()
	var out []float64
	for o := range c.out {
		wide := make([]float64, rows*cols)
		for y := range rows {
			for x := range cols {
				sum := float64(params[c.bias()+o])
				for i := range c.in {
					for ky := range c.kernel {
						for kx := range c.kernel {
							iy, ix := y+ky-c.pad, x+kx-c.pad
							if iy < 0 || iy >= c.rows || ix < 0 || ix >= c.cols {
								continue
							}
							w := params[c.weight+((o*c.in+i)*c.kernel+ky)*c.kernel+kx]
							sum += float64(w) * in[(i*c.rows+iy)*c.cols+ix]
						}
					}
				}
				wide[y*cols+x] = max(sum, 0)
			}
		}
		if !c.pool {
			out = append(out, wide...)
			continue
		}
		for y := range rows / 2 {
			for x := range cols / 2 {
				at := 2*y*cols + 2*x
				out = append(out, max(wide[at], wide[at+1], wide[at+cols], wide[at+cols+1]))
			}
		}
	}
	return out
}

// slow computes the loss by its definition, with float64 in all steps.
func (m *CNN) slow(params []float32, batch []int) (loss float64) {
	for _, at := range batch {
		image := make([]float64, m.images.Rows*m.images.Cols)
		for i, p := range m.images.At(at) {
			image[i] = float64(m.ink[p])
		}
		l, _ := softmax.CrossEntropy(m.direct(params, image), int(m.images.Labels[at]))
		loss += l
	}
	return loss / float64(len(batch))
}

// networks returns the CNNs on images whose sides differ and are odd, and on images of the usual
// size.
func networks() map[string]*CNN {
	odd, digits := noise(70, 11, 8, 10), data.Digits(70, 1)
	return map[string]*CNN{
		"mnist":        NewCNNMNIST(digits, data.MNISTMean, data.MNISTStd),
		"fashion":      NewCNNFashion(digits, 0.2860, 0.3530),
		"small":        NewCNNSmall(digits, 0.5, 1),
		"mnist 11x8":   NewCNNMNIST(odd, 0.5, 0.3),
		"fashion 11x8": NewCNNFashion(odd, 0.5, 0.3),
		"small 11x8":   NewCNNSmall(odd, 0.5, 0.3),
		// These images are as wide as digits, so that the processor fuses the convolutions if it can.
		"mnist 10x28": NewCNNMNIST(noise(70, 10, 28, 10), 0.5, 0.3),
	}
}

func TestCNNShapes(t *testing.T) {
	models := networks()
	for name, want := range map[string]struct {
		dim    int
		layers string
	}{
		"mnist": {28938, "conv1.weight 400 0.2, conv1.bias 16 0.2, conv2.weight 12800 0.05, " +
			"conv2.bias 32 0.05, fc1.weight 15680 0.0252538, fc1.bias 10 0.0252538, "},
		"fashion": {1206590, "conv1.weight 288 0.333333, conv1.bias 32 0.333333, " +
			"conv2.weight 18432 0.0589256, conv2.bias 64 0.0589256, " +
			"fc1.weight 1179648 0.0104167, fc1.bias 128 0.0104167, " +
			"fc2.weight 7936 0.0883883, fc2.bias 62 0.0883883, "},
		"small": {11274, "conv1.weight 200 0.2, conv1.bias 8 0.2, conv2.weight 3200 0.0707107, " +
			"conv2.bias 16 0.0707107, fc1.weight 7840 0.0357143, fc1.bias 10 0.0357143, "},
	} {
		if got := models[name].Dim(); got != want.dim {
			t.Errorf("%s: %d parameters, want %d", name, got, want.dim)
		}
		layers := ""
		for _, s := range models[name].Segments() {
			layers += fmt.Sprintf("%s %d %.6g, ", s.Name, s.Len, s.Scale)
			if s.Fill != plan.UniformFill {
				t.Errorf("%s: %s is filled with %v", name, s.Name, s.Fill)
			}
		}
		if layers != want.layers {
			t.Errorf("%s: got layers\n%s, want\n%s", name, layers, want.layers)
		}
	}
}

func TestCNNLossIsItsDefinition(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	for name, m := range networks() {
		params := Initial(m, 1)
		for _, n := range []int{1, 3, 9} {
			if m.images.Rows == 28 && n > 1 {
				break // the definition is slow
			}
			batch := data.NewBatcher(sequence(m.Len())).Pick(n, uint64(n))
			got, want := m.Loss(params, batch), m.slow(params, batch)
			if !(math.Abs(got-want) < 1e-6*want) {
				t.Errorf("%s, %d images: got %v, want %v", name, n, got, want)
			}
			if also, _ := softmax.Mean(m, params, batch); also != got {
				t.Errorf("%s, %d images: Metrics gives loss %v, Loss %v", name, n, also, got)
			}
		}
		// The batch has more images than a chunk, and contains some images twice.
		long := append(sequence(70), sequence(9)...)
		var want float64
		for _, at := range long {
			want += m.Loss(params, []int{at}) / float64(len(long))
		}
		if got := m.Loss(params, long); !(math.Abs(got-want) < 1e-6*want) {
			t.Errorf("%s: %d images: got %v, one by one %v", name, len(long), got, want)
		}
	}
}

// By hand: every weight 0 but for a path through each layer.
//
// An image of one dot of ink 1 in the middle. The middle tap of the first
// kernel of layer 1 is 2, its bias 1: the dot becomes 3, all else 1, pooled
// likewise. The tap above the middle, weight 4, of the second output of layer 2
// on channel 0, bias -10: 4*3-10 = 2 below the pooled dot, 4*1-10 < 0
// elsewhere. So the flat input has a single 2, at a place to find.
func TestCNNByHand(t *testing.T) {
	im := &data.Images{Rows: 8, Cols: 8, Classes: 3, Pixels: make([]uint8, 64), Labels: []uint8{2}}
	im.Pixels[2*8+4] = 255 // pooled: row 1, column 2
	m := NewCNNMNIST(im, 0, 1)
	p := make([]float32, m.Dim())
	p[12] = 2
	p[m.one.bias()] = 1
	p[m.two.weight+1*16*25+0*25+7] = 4 // row 1, column 2 of the kernel
	p[m.two.bias()+1] = -10
	// Layer 2 before pooling: row 2, column 2; pooled: row 1, column 1 of 2x2.
	l := m.dense[0]
	if l.in != 128 || l.out != 3 {
		t.Fatalf("the dense layer is %d -> %d", l.in, l.out)
	}
	p[l.weight+2*l.in+1*4+1*2+1] = 0.5
	p[l.bias()] = 0.25
	logits := make([]float32, 3)
	image := make([]float32, 64)
	image[20] = 1
	m.Logits(logits, p, image)
	if want := []float32{0.25, 0, 1}; !slices.Equal(logits, want) {
		t.Errorf("got logits %v, want %v", logits, want)
	}
	want := math.Log(math.Exp(0.25)+1+math.E) - 1
	loss, accuracy := softmax.Mean(m, p, []int{0})
	if math.Abs(loss-want) > 1e-7 || accuracy != 1 {
		t.Errorf("got loss %v and accuracy %v, want %v and 1", loss, accuracy, want)
	}
}

func TestLogits(t *testing.T) {
	m := networks()["small 11x8"]
	params := Initial(m, 2)
	const n = 67
	images, got := random(n*88, 3), make([]float32, n*m.Outputs())
	m.Logits(got, params, images)
	for i := range n {
		image := make([]float64, 88)
		for k := range image {
			image[k] = float64(images[i*88+k])
		}
		for c, want := range m.direct(params, image) {
			if v := got[i*m.Outputs()+c]; math.Abs(float64(v)-want) > 1e-6 {
				t.Fatalf("image %d, output %d: got %v, want %v", i, c, v, want)
			}
		}
	}
}

// If a parameter is NaN, or so large that sums overflow to both infinities, the loss must be NaN:
// rectifiers must not turn the NaN into 0.
func TestCNNLossOfNaN(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	for name, m := range networks() {
		for _, at := range []int{0, m.one.bias(), m.two.weight, m.two.bias() + 1, m.dim - 1} {
			for _, nan := range []uint32{0x7fc00000, 0xffc00000} {
				params := Initial(m, 1)
				params[at] = math.Float32frombits(nan)
				if loss := m.Loss(params, sequence(5)); !math.IsNaN(loss) {
					t.Errorf("%s: loss %v with parameter %d NaN %#x", name, loss, at, nan)
				}
			}
		}
		params := Initial(m, 1)
		for i := range params {
			params[i] *= 1e30
		}
		if loss := m.Loss(params, sequence(5)); !math.IsNaN(loss) {
			t.Errorf("%s: loss %v with parameters of 1e30", name, loss)
		}
	}
}

// TestCNNGradient compares the gradient with central differences of the loss by definition in
// float64, layer by layer. The step is short, because rectifiers and pooling have kinks.
func TestCNNGradient(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	for name, m := range networks() {
		if m.images.Rows == 28 {
			continue // the definition is slow
		}
		params, batch := Initial(m, 1), sequence(6)
		grad := make([]float32, m.Dim())
		loss := m.Gradient(grad, params, batch)
		if want := m.Loss(params, batch); math.Abs(loss-want) > 1e-7 {
			t.Errorf("%s: Gradient gives loss %v, Loss %v", name, loss, want)
		}
		at := uint64(0)
		for _, s := range m.Segments() {
			// Along the gradient of one layer, the derivative is the squared norm of this gradient.
			const mu = 2e-5
			part, plus, minus := grad[at:at+s.Len], slices.Clone(params), slices.Clone(params)
			var square float64
			for _, g := range part {
				square += float64(g) * float64(g)
			}
			norm := math.Sqrt(square)
			for i, g := range part {
				plus[at+uint64(i)] += float32(mu / norm * float64(g))
				minus[at+uint64(i)] -= float32(mu / norm * float64(g))
			}
			// The steps as they were rounded.
			var want float64
			for i, g := range part {
				k := at + uint64(i)
				want += float64(g) * (float64(plus[k]) - float64(minus[k])) / (2 * mu)
			}
			got := (m.slow(plus, batch) - m.slow(minus, batch)) / (2 * mu)
			if !(math.Abs(got-want) < 1e-3*norm) {
				t.Errorf("%s: %s: difference quotient %v, gradient %v", name, s.Name, got, want)
			}
			at += s.Len
		}
	}
}

// TestCNNGradientAddsUp checks that the gradient of a minibatch of more than a chunk is the mean
// of the gradients of its images, and that Gradient adds it to grad.
func TestCNNGradientAddsUp(t *testing.T) {
	for _, name := range []string{"mnist 11x8", "fashion 11x8", "mnist 10x28"} {
		m := networks()[name]
		params, batch := Initial(m, 1), sequence(70)
		got, want := make([]float32, m.Dim()), make([]float32, m.Dim())
		fill(got, 1)
		m.Gradient(got, params, batch)
		for _, at := range batch {
			m.Gradient(want, params, []int{at})
		}
		for i := range got {
			if w := 1 + want[i]/70; math.Abs(float64(got[i]-w)) > 1e-5 {
				t.Fatalf("%s: parameter %d: got %v, want %v", name, i, got[i], w)
			}
		}
	}
}

func TestCNNEvaluate(t *testing.T) {
	n := 600
	if testing.Short() {
		n = 300 // still two goroutines' worth
	}
	m := NewCNNSmall(data.Digits(n, 2), data.MNISTMean, data.MNISTStd)
	params := Initial(m, 3)
	wantLoss, wantAccuracy := softmax.Mean(m, params, sequence(n))
	first, _ := softmax.Evaluate(m, params, 1)
	for _, goroutines := range []int{-1, 1, 2, 7} {
		loss, accuracy := softmax.Evaluate(m, params, goroutines)
		if loss != first || math.Abs(loss-wantLoss) > 1e-12 || accuracy != wantAccuracy {
			t.Errorf("%d goroutines: got %v and %v, want %v and %v",
				goroutines, loss, accuracy, wantLoss, wantAccuracy)
		}
	}
}

func TestCNNConcurrently(t *testing.T) {
	m := networks()["mnist 11x8"]
	params, batch := Initial(m, 1), sequence(33)
	want := m.Loss(params, batch)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if got := m.Loss(params, batch); got != want {
					t.Errorf("got %v, want %v", got, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestCNNAllocatesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	for name, m := range networks() {
		params, batch, grad := Initial(m, 1), sequence(66), make([]float32, m.Dim())
		logits, images := make([]float32, m.Outputs()), make([]float32, m.images.Rows*m.images.Cols)
		if got := testing.AllocsPerRun(2, func() {
			m.Loss(params, batch)
			m.Gradient(grad, params, batch)
			m.Logits(logits, params, images)
		}); got != 0 {
			t.Errorf("%s: %v allocations a call", name, got)
		}
	}
}

func TestCNNPanics(t *testing.T) {
	m := networks()["small 11x8"]
	good := make([]float32, m.Dim())
	for name, f := range map[string]func(){
		"short parameters": func() { m.Loss(good[1:], []int{0}) },
		"short gradient":   func() { m.Gradient(good[1:], good, []int{0}) },
		"empty batch":      func() { m.Loss(good, nil) },
		"no such image":    func() { m.Loss(good, []int{0, 70}) },
		"half an image":    func() { m.Logits(make([]float32, 10), good, make([]float32, 44)) },
		"std 0":            func() { NewCNNMNIST(noise(1, 8, 8, 2), 0, 0) },
		"small images":     func() { NewCNNMNIST(noise(1, 3, 3, 2), 0, 1) },
		"tiny images":      func() { NewCNNFashion(noise(1, 5, 5, 2), 0, 1) },
		"many classes":     func() { NewCNNFashion(noise(1, 8, 8, 63), 0, 1) },
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
