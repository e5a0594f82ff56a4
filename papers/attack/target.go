package attack

import (
	"math"
	"slices"

	"github.com/zofl/zofl/coordinator/zofl/softmax"
)

// Bound is the limit to which [NewTarget] clamps 2z before it takes atanh(2z). Without the clamp,
// atanh would be infinite for pixels z that are pure paper or ink, where 2z is -1 or 1; with the
// clamp, atanh is +-7.25. FedZO's code does not clamp, so that no perturbation changes such
// pixels. Here only a perturbation of nearly 7.25 or more changes them noticeably. ZO-AdaFL does
// not say whether its code clamps.
const Bound = 1 - 1e-6

// A Target is a set of images of one class. A perturbation x, with one number for each pixel,
// changes each image z to
//
//	z' = 0.5 tanh(atanh(2z) + x)
//
// for z in [-0.5, 0.5]. The loss of x is the loss of FedZO and ZO-AdaFL:
//
//	max(logit of the class - largest other logit, 0) + balance * |z' - z|^2
//
// Any number of goroutines may compute losses.
type Target struct {
	net     *Net
	params  []float32 // of net
	class   int
	balance float64
	images  int
	pixels  []uint8      // [pixel][image]
	depth   [256]float64 // z for each value of a pixel
	scale   [256]float64 // 2z, clamped
}

// NewTarget returns the attack on some images of m, whose indices are in list and whose class is
// class. The Target keeps params.
func NewTarget(m *Net, params []float32, list []int, class uint8, balance float64) *Target {
	softmax.Check(m, params, list)
	t := &Target{net: m, params: params, class: int(class), balance: balance, images: len(list)}
	for pixel := range t.Dim() {
		for _, i := range list {
			t.pixels = append(t.pixels, m.images.At(i)[pixel])
		}
	}
	for p := range t.scale {
		t.depth[p] = depth(uint8(p))
		t.scale[p] = min(max(2*t.depth[p], -Bound), Bound)
	}
	return t
}

// depth maps a byte of an image to [-0.5, 0.5].
func depth(p uint8) float64 { return float64(p)/255 - 0.5 }

// Dim returns the number of pixels.
func (t *Target) Dim() int { return t.net.images.Rows * t.net.images.Cols }

// Len returns the number of images.
func (t *Target) Len() int { return t.images }

// Figures are the effects of a perturbation, averaged over some images.
type Figures struct {
	Attack     float64 // how far the class's logit leads, or 0
	Distortion float64 // |z' - z|^2
	Success    float64 // part of the images that is classified as another class
}

// Loss returns the mean loss of x over the images named by batch.
func (t *Target) Loss(x []float32, batch []int) float64 {
	f := t.Figures(x, batch)
	return f.Attack + float64(t.balance*f.Distortion)
}

// Figures returns the effect of x on the images named by batch. Figures panics if batch is empty,
// or if x is not Dim long.
func (t *Target) Figures(x []float32, batch []int) (f Figures) {
	if len(x) != t.Dim() || len(batch) == 0 {
		panic("attack: a perturbation of another dimension, or no image")
	}
	for part := range slices.Chunk(batch, chunk) {
		ws := t.net.take(len(part))
		f.Distortion += t.perturb(ws, x, part)
		t.net.run(ws, t.params)
		for i := range part {
			margin := t.margin(ws, i)
			f.Attack += max(margin, 0)
			if margin < 0 {
				f.Success++
			}
		}
		t.net.spaces.Put(ws)
	}
	n := float64(len(batch))
	return Figures{f.Attack / n, f.Distortion / n, f.Success / n}
}

// perturb writes the perturbed images to the network's input, and returns the sum of their
// distortions. By the addition theorem tanh(atanh(a) + x) = (a+b)/(1+ab) with b = tanh x, so
// perturb computes no logarithm. Often a pixel has the same byte as in the previous image; then
// perturb reuses the result.
func (t *Target) perturb(ws *workspace, x []float32, batch []int) (distortion float64) {
	side := t.net.images.Cols
	for pixel, v := range x {
		place := t.net.one.place(0, pixel/side, pixel%side, ws.n)
		b, row := math.Tanh(float64(v)), t.pixels[pixel*t.images:][:t.images]
		last, shifted, square := -1, 0.0, 0.0
		for i, at := range batch {
			if p := row[at]; int(p) != last {
				a := t.scale[p]
				shifted, last = 0.5*(a+b)/(1+float64(a*b)), int(p)
				square = (shifted - t.depth[p]) * (shifted - t.depth[p])
			}
			ws.input[place+i] = float32(shifted)
			distortion += square
		}
	}
	return distortion
}

// margin returns the logit of image i's class minus the largest other logit.
func (t *Target) margin(ws *workspace, i int) float64 {
	other := float32(math.Inf(-1))
	for c := range t.net.images.Classes {
		if c != t.class {
			other = max(other, ws.logits[c*ws.n+i])
		}
	}
	return float64(ws.logits[t.class*ws.n+i]) - float64(other)
}
