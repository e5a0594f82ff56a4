package data

import "math"

const (
	digitSize = 28 // rows and columns of a drawn digit
	// The pen draws the curve between two points of a stroke as segmentsPerSpan straight pieces. A
	// piece is about 1.5 pixels long, too short to be seen as a straight line.
	segmentsPerSpan = 4
)

// A canvas is the ink of one digit, from 0 (paper) to 1 per pixel; more than 1 counts as 1. A
// pixel's center has whole coordinates.
type canvas struct {
	ink [digitSize * digitSize]float32
}

// A pen draws lines with soft edges. Its radius changes linearly from first to last along a stroke,
// like the pressure of a hand.
type pen struct {
	first, last float64 // radius in pixels, of the line where ink is 1/2
	soft        float64 // width of the edge in pixels, from ink 1 to ink 0
}

// curve draws the Catmull-Rom spline through the points of s:
//
//	p(t) = p1 + t*(m1 + t*(3d - 2*m1 - m2 + t*(m1 + m2 - 2d)))
//
// with d = p2 - p1, m1 = (p2 - p0)/2, m2 = (p3 - p1)/2. curve draws no span between two equal
// points, so that the line has a corner there.
func (c *canvas) curve(s stroke, p pen) {
	last := len(s) - 1
	slope := (p.last - p.first) / float64(last*segmentsPerSpan)
	for i := range last {
		p0, p1, p2, p3 := s[max(i-1, 0)], s[i], s[i+1], s[min(i+2, last)]
		if p1 == p2 {
			continue
		}
		from := p1
		for k := 1; k <= segmentsPerSpan; k++ {
			t := float64(k) / segmentsPerSpan
			to := point{
				hermite(t, p1.x, p2.x-p1.x, (p2.x-p0.x)/2, (p3.x-p1.x)/2),
				hermite(t, p1.y, p2.y-p1.y, (p2.y-p0.y)/2, (p3.y-p1.y)/2),
			}
			radius := p.first + float64(slope*float64(i*segmentsPerSpan+k))
			c.line(from, to, radius, p.soft)
			from = to
		}
	}
}

// hermite is one coordinate of the spline of [canvas.curve].
func hermite(t, p1, d, m1, m2 float64) float64 {
	cubic := m1 + m2 - float64(2*d)
	square := float64(3*d) - float64(2*m1) - m2
	return p1 + float64(t*(m1+float64(t*(square+float64(t*cubic)))))
}

// line draws a straight piece with round ends. At distances from the piece below radius-soft/2 the
// ink is 1 or more, at distances above radius+soft/2 it is 0, and in between it is linear in the
// distance.
func (c *canvas) line(a, b point, radius, soft float64) {
	reach := radius + float64(soft/2)
	x0, x1 := pixelSpan(min(a.x, b.x)-reach, max(a.x, b.x)+reach)
	y0, y1 := pixelSpan(min(a.y, b.y)-reach, max(a.y, b.y)+reach)
	dx, dy := b.x-a.x, b.y-a.y
	invLength2 := 0.0
	if l := float64(dx*dx) + float64(dy*dy); l > 0 {
		invLength2 = 1 / l
	}
	invSoft := 1 / soft
	for y := y0; y <= y1; y++ {
		py := float64(y) - a.y
		row := c.ink[y*digitSize : (y+1)*digitSize]
		for x := x0; x <= x1; x++ {
			px := float64(x) - a.x
			t := float64((float64(px*dx) + float64(py*dy)) * invLength2)
			if t < 0 {
				t = 0
			} else if t > 1 {
				t = 1
			}
			ex, ey := px-float64(t*dx), py-float64(t*dy)
			square := float64(ex*ex) + float64(ey*ey)
			if square >= reach*reach {
				continue
			}
			if ink := float32((reach - math.Sqrt(square)) * invSoft); ink > row[x] {
				row[x] = ink
			}
		}
	}
}

// pixelSpan returns the first and the last pixel from lo to hi that are on the canvas. If first is
// greater than last, no pixel is.
func pixelSpan(lo, hi float64) (first, last int) {
	return max(int(math.Ceil(lo)), 0), min(int(math.Floor(hi)), digitSize-1)
}
