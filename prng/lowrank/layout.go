package lowrank

import (
	"fmt"

	"github.com/zofl/zofl/prng"
)

// Shape is the shape of a segment of a vector. A matrix has at least 2 rows and 2 columns, and its
// elements are in row-major order. A segment with 0 rows is not a matrix: it has Columns elements,
// each with a sign of its own.
type Shape struct{ Rows, Columns int }

// A Layout divides a vector into segments. A Layout does not change, and any number of goroutines
// may use it.
type Layout struct {
	segments []segment
	factors  int // number of signs of a direction
	length   int // number of elements of the vector
}

// A segment has rows*columns elements of the vector, from element start on. Its factors are rows
// signs, from factor a on, and then columns signs. A segment that is no matrix is a row without a
// sign: rows is 1, and plain is true.
type segment struct {
	start, rows, columns int
	a, b                 int // the first factors of rows and columns
	plain                bool
}

func (s *segment) end() int { return s.start + s.rows*s.columns }

// New returns the layout of a vector whose segments have the given shapes. New panics for a shape
// that is neither a matrix nor a segment with 0 rows and at least 1 column.
func New(shapes []Shape) *Layout {
	l := &Layout{segments: make([]segment, len(shapes))}
	for i, s := range shapes {
		next := segment{start: l.length, rows: s.Rows, columns: s.Columns, a: l.factors}
		switch {
		case s.Rows == 0 && s.Columns >= 1:
			next.rows, next.plain = 1, true
			next.b = next.a
		case s.Rows >= 2 && s.Columns >= 2:
			next.b = next.a + s.Rows
		default:
			panic(fmt.Sprintf("lowrank: segment %d has %d rows and %d columns", i, s.Rows,
				s.Columns))
		}
		l.segments[i] = next
		l.factors, l.length = next.b+s.Columns, next.end()
	}
	return l
}

// Len returns the number of elements of the vector.
func (l *Layout) Len() int { return l.length }

// Factors returns the number of signs that a direction takes.
func (l *Layout) Factors() int { return l.factors }

// Blocks returns the number of blocks of prng that hold the factors of a direction.
func (l *Layout) Blocks() int { return (l.factors + prng.BlockLen - 1) / prng.BlockLen }

// A piece is a part of the vector within a segment: from column `from` of row `row` on.
type piece struct {
	*segment
	row, from int
}

// check panics if elements [at, at+n) are not all in the vector.
func (l *Layout) check(at, n int) {
	if at < 0 || n > l.length-at {
		panic(fmt.Sprintf("lowrank: elements %d to %d of a vector of %d", at, at+n, l.length))
	}
}

// find returns the piece that starts at element at, which must be in the vector.
func (l *Layout) find(at int) (i int, p piece) {
	lo, hi := 0, len(l.segments)-1
	for lo < hi {
		if mid := (lo + hi) / 2; l.segments[mid].end() <= at {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	s := &l.segments[lo]
	at -= s.start
	return lo, piece{s, at / s.columns, at % s.columns}
}

// bands calls f for each band of elements [at, at+n): a part of one row, or whole rows of one
// segment. A band has rows rows from p on, of width elements each, and its first element is element
// at+off.
func (l *Layout) bands(at, n int, f func(p piece, rows, width, off int)) {
	if n == 0 {
		return
	}
	i, p := l.find(at)
	for off := 0; off < n; {
		rows, width := 1, min(p.columns-p.from, n-off)
		if p.from == 0 && width == p.columns {
			rows = min(p.rows-p.row, (n-off)/width)
		}
		f(p, rows, width, off)
		off += rows * width
		p.row, p.from = p.row+rows, 0
		if p.row == p.rows && off < n {
			i++
			p = piece{segment: &l.segments[i]}
		}
	}
}
