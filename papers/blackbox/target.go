package blackbox

import (
	"math"

	"github.com/zofl/zofl/coordinator/zofl/data"
)

// A Target is the attack on one image z. With x a number for each pixel,
//
//	f_i(x) = logit of z's class - largest other logit, of model i at clip(z + x, 0, 1)
//
// where a pixel of full ink is 1, and x is within +-0.3. Any number of goroutines may use one
// Target.
type Target struct {
	attack *Attack
	image  [pixels]float32 // z
	class  int
}

func newTarget(a *Attack, im *data.Images, i int) *Target {
	t := &Target{attack: a, class: int(im.Labels[i])}
	for k, p := range im.At(i) {
		t.image[k] = float32(p) / 255
	}
	return t
}

// Dim returns the number of pixels, 784.
func (t *Target) Dim() int { return pixels }

// Clients returns the number of models.
func (t *Target) Clients() int { return len(t.attack.nets) }

// Class returns the image's class.
func (t *Target) Class() int { return t.class }

// Box returns -0.3 and 0.3.
func (t *Target) Box() (low, high float32) { return -attackSide, attackSide }

// Start writes zeros to dst: at x = 0 the image is unchanged.
func (t *Target) Start(dst []float32, _ uint64) {
	check(t, dst)
	clear(dst)
}

// Local returns f_i.
func (t *Target) Local(i int) func(x []float32) float64 {
	checkClient(t, i)
	p, n := newPass(), t.attack.nets[i]
	return func(x []float32) float64 {
		check(t, x)
		if !t.perturb(p, x) {
			return math.NaN()
		}
		return t.margin(n.forward(p))
	}
}

// Margins sets dst[i] to f_i(x) for every client. dst is Clients long.
func (t *Target) Margins(dst []float64, x []float32) {
	check(t, x)
	if len(dst) != t.Clients() {
		panic(badClient)
	}
	p := newPass()
	number := t.perturb(p, x)
	for i, n := range t.attack.nets {
		if dst[i] = math.NaN(); number {
			dst[i] = t.margin(n.forward(p))
		}
	}
}

// Success reports whether x misleads the models: whether F(x), the mean margin, is
// negative.
func (t *Target) Success(x []float32) bool {
	margins, sum := make([]float64, t.Clients()), 0.0
	t.Margins(margins, x)
	for _, m := range margins {
		sum += m
	}
	return sum < 0
}

// right reports whether every model classifies the image perturbed by x correctly. If average is
// set, right reports whether the mean margin of the models is positive.
func (t *Target) right(x []float32, average bool) bool {
	margins, sum := make([]float64, t.Clients()), 0.0
	t.Margins(margins, x)
	for _, m := range margins {
		if sum += m; !average && !(m > 0) {
			return false
		}
	}
	return sum > 0
}

// perturb writes the perturbed image to p, normalized for the networks. If x has a NaN, perturb
// returns false, because pooling may turn a NaN into a number.
func (t *Target) perturb(p *pass, x []float32) bool {
	for i, z := range t.image {
		ink := clamp(z+clamp(x[i], -attackSide, attackSide), 0, 1)
		if ink != ink {
			return false
		}
		p.set(i, (ink-data.MNISTMean)/data.MNISTStd)
	}
	return true
}

// margin returns the logit of the image's class minus the largest other logit.
func (t *Target) margin(logits []float32) float64 {
	other := float32(math.Inf(-1))
	for c, v := range logits {
		if c != t.class {
			other = max(other, v)
		}
	}
	return float64(logits[t.class]) - float64(other)
}

var _ Problem = (*Target)(nil)
