package data

import "math/rand/v2"

// These constants say how much a drawn digit differs from its style. We chose the values so that a
// linear classifier reaches about the same accuracy as on MNIST.
const (
	heightMin, heightMax = 16.5, 21.5 // pixels from top to bottom
	widthMin, widthMax   = 0.50, 0.95 // width of the unit box, in heights
	radiusMin, radiusMax = 0.75, 1.7  // of the pen, pixels
	softMin, softMax     = 0.9, 1.6   // edge of the line, pixels
	inkMin               = 0.82       // of the palest pen
	noiseMax             = 0.08       // amplitude per pixel, of full ink

	// The values below limit bell-shaped distributions about 0 with a deviation of a third of the
	// limit.
	shiftMax    = 2.2  // pixels, each way
	turnMax     = 0.20 // tangent of half the angle: 23 degrees
	shearMax    = 0.55 // x per y
	jitterMax   = 0.16 // of a point, in units of the box
	pressureMax = 0.25 // change of radius in a stroke, relative
)

// Digits draws n images of 28x28 pixels that resemble MNIST: the digits 0 to 9, about 20 pixels
// high, in several styles each. Digits shifts, turns, shears and stretches every image at random,
// moves the points of its strokes at random, and adds some noise. Labels are uniformly random.
//
// Image i depends on seed and i alone: Digits(n, seed) is a prefix of Digits(m, seed) if n < m. Use
// another seed for a test set. A linear softmax classifier reaches an accuracy of about 92 %, as on
// MNIST.
func Digits(n int, seed uint64) *Images {
	im := &Images{
		Rows: digitSize, Cols: digitSize, Classes: len(styles),
		Pixels: make([]uint8, n*digitSize*digitSize),
		Labels: make([]uint8, n),
	}
	var h hand
	for i := range n {
		h.pcg.Seed(seed, uint64(i))
		digit := h.intn(len(styles))
		im.Labels[i] = uint8(digit)
		h.draw(im.At(i), styles[digit])
	}
	return im
}

// A hand writes digits, each a little differently.
type hand struct {
	pcg    rand.PCG
	canvas canvas
	points stroke // of the stroke being drawn, in pixels
}

// draw writes one digit in one of the styles given to dst.
func (h *hand) draw(dst []uint8, styles []style) {
	h.canvas = canvas{}
	style := styles[h.intn(len(styles))]
	place := h.place()
	radius, soft := h.uniform(radiusMin, radiusMax), h.uniform(softMin, softMax)
	for _, s := range style {
		h.points = h.points[:0]
		for i, p := range s {
			if i > 0 && p == s[i-1] { // a point given twice stays a corner
				h.points = append(h.points, h.points[i-1])
				continue
			}
			p.x += h.bell(jitterMax)
			p.y += h.bell(jitterMax)
			h.points = append(h.points, place.apply(p))
		}
		first := float64(radius * (1 + h.bell(pressureMax)))
		last := float64(radius * (1 + h.bell(pressureMax)))
		h.canvas.curve(h.points, pen{first, last, soft})
	}
	h.develop(dst)
}

// develop turns ink into pixels and adds the noise.
func (h *hand) develop(dst []uint8) {
	full := float32(h.uniform(inkMin, 1) * 255)
	// The noise of a pixel is a random byte, uniform in [-128, 127], times noise.
	noise := float32(h.uniform(0, noiseMax) * (255.0 / 128))
	for i := 0; i < len(dst); i += 8 { // 28*28 is a multiple of 8
		word := h.pcg.Uint64()
		for j := range 8 {
			v := float32(min(h.canvas.ink[i+j], 1)*full) + float32(float32(int8(word>>(8*j)))*noise)
			dst[i+j] = uint8(min(max(v, 0), 255))
		}
	}
}

// An affine map takes the unit box of a digit to pixels.
type affine struct{ xx, xy, yx, yy, x, y float64 }

// place draws at random the map of one digit: a stretch, a shear, a turn about the middle of the
// box, and a shift.
func (h *hand) place() affine {
	height := h.uniform(heightMin, heightMax)
	width := float64(height * h.uniform(widthMin, widthMax))
	shear := h.bell(shearMax)
	// The half-angle form of sine and cosine needs no math.Sin.
	t := h.bell(turnMax)
	norm := 1 / (1 + float64(t*t))
	cos, sin := float64((1-float64(t*t))*norm), float64(2*t*norm)
	lean := -float64(shear * height) // positive shear leans right, as y is down
	a := affine{
		xx: float64(cos * width), xy: float64(cos*lean) - float64(sin*height),
		yx: float64(sin * width), yy: float64(sin*lean) + float64(cos*height),
	}
	const middle = (digitSize - 1) / 2.0
	a.x = middle + h.bell(shiftMax) - float64((a.xx+a.xy)/2)
	a.y = middle + h.bell(shiftMax) - float64((a.yx+a.yy)/2)
	return a
}

func (a affine) apply(p point) point {
	return point{
		a.x + float64(a.xx*p.x) + float64(a.xy*p.y),
		a.y + float64(a.yx*p.x) + float64(a.yy*p.y),
	}
}

// uniform returns a number in [lo, hi).
func (h *hand) uniform(lo, hi float64) float64 {
	return lo + float64((hi-lo)*float64(h.pcg.Uint64()>>11)*(1.0/(1<<53)))
}

// bell returns a number in (-limit, limit): the mean of three uniform numbers. Its density
// resembles a normal density without tails.
func (h *hand) bell(limit float64) float64 {
	word := h.pcg.Uint64()
	const mask, scale = 1<<21 - 1, 2.0 / (3 << 21)
	sum := word&mask + word>>21&mask + word>>42&mask
	return float64(limit * (float64(float64(sum)*scale) - 1))
}

// intn returns a number in [0, n); its bias of n/2^32 does not matter here.
func (h *hand) intn(n int) int { return int(h.pcg.Uint64() >> 32 * uint64(n) >> 32) }
