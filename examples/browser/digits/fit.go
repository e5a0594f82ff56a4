package digits

import (
	"errors"
	"fmt"
)

// height is about the height of a digit in the built-in images. A drawing is scaled to it.
const height = 20

// pale is the largest ink of a pixel that does not count as drawn.
const pale = 32

// ErrBlank means that nothing is drawn.
var ErrBlank = errors.New("draw a digit first")

// Fit makes an image of a drawing, and scales and centers the digit, so that its place and size
// do not matter. ink holds side*side pixels, row by row, 255 for ink and 0 for paper.
func Fit(ink []uint8, side int) ([]uint8, error) {
	if side < 1 || len(ink) != side*side {
		return nil, fmt.Errorf("a drawing of %d pixels is not %d by %d", len(ink), side, side)
	}
	b, ok := bounds(ink, side)
	if !ok {
		return nil, ErrBlank
	}
	scale := float64(max(b.right-b.left, b.bottom-b.top)) / height // pixels of ink for one
	left := float64(b.left+b.right)/2 - scale*Side/2
	top := float64(b.top+b.bottom)/2 - scale*Side/2
	out := make([]uint8, Side*Side)
	for row := range Side {
		for col := range Side {
			out[row*Side+col] = mean(ink, side,
				left+scale*float64(col), top+scale*float64(row), scale)
		}
	}
	return out, nil
}

// A box has the pixels from left and top up to right and bottom.
type box struct{ left, top, right, bottom int }

// bounds returns the smallest box that contains all ink.
func bounds(ink []uint8, side int) (b box, ok bool) {
	b = box{side, side, 0, 0}
	for i, v := range ink {
		if v > pale {
			x, y := i%side, i/side
			b = box{min(b.left, x), min(b.top, y), max(b.right, x+1), max(b.bottom, y+1)}
		}
	}
	return b, b.right > 0
}

// mean returns the mean ink of a square, sampled at points. Outside the drawing there is no ink.
func mean(ink []uint8, side int, left, top, size float64) uint8 {
	const points = 8 // a row
	sum := 0
	for i := range points * points {
		x := int(left + size*(float64(i%points)+0.5)/points)
		y := int(top + size*(float64(i/points)+0.5)/points)
		if x >= 0 && x < side && y >= 0 && y < side {
			sum += int(ink[y*side+x])
		}
	}
	return uint8(sum / (points * points))
}
