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

	first  int     // the first element; 0, unless it is a part of another layout
	blocks []block // where the signs of a direction are among its factors
}

// A block says which factors of one block of prng a layout has.
type block struct {
	index uint32
	runs  []run
}

// A run has n factors, from place from of a block on. The first of them is factor to of the layout.
type run struct{ from, n, to int }

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
	factors := l.factors
	l.factors = 0
	l.take(0, factors)
	return l
}

// Part returns the layout of elements [at, at+n) of the vector alone. Its directions are those of
// l, with only the factors that these elements take. Methods take the same places of elements as
// those of l, but [Layout.LoadOne], and what uses its bits, are for the whole.
func (l *Layout) Part(at, n int) *Layout {
	part := &Layout{first: at, length: at + n}
	l.parts(at, n, func(s segment, from, columns int) {
		next := s
		next.columns = columns
		if next.a = part.factors; !s.plain {
			part.take(s.a, s.rows)
		}
		next.b = part.factors
		part.take(s.b+from, columns)
		part.segments = append(part.segments, next)
	})
	return part
}

// PartFactors returns the number of factors that Part has.
func (l *Layout) PartFactors(at, n int) (factors int) {
	l.parts(at, n, func(s segment, _, columns int) {
		if factors += columns; !s.plain {
			factors += s.rows
		}
	})
	return factors
}

// parts calls f for parts of segments that together have elements [at, at+n) and perhaps more: rows
// of a segment, with its columns from column `from` on.
func (l *Layout) parts(at, n int, f func(s segment, from, columns int)) {
	l.check(at, n)
	for _, s := range l.segments {
		lo, hi := max(at, s.start)-s.start, min(at+n, s.end())-s.start
		if lo >= hi {
			continue
		}
		row, columns := lo/s.columns, s.columns
		rows := func(first, count int) segment {
			return segment{start: s.start + first*columns, rows: count, columns: columns,
				a: s.a + first, b: s.b, plain: s.plain}
		}
		for ; lo < hi && hi-lo < columns; row++ { // no whole row: only some columns of one or two
			end := min(hi, (row+1)*columns)
			part := rows(row, 1)
			part.start += lo % columns
			f(part, lo%columns, end-lo)
			lo = end
		}
		if lo < hi {
			f(rows(row, (hi-1)/columns-row+1), 0, columns)
		}
	}
}

// take appends n factors of a direction, from factor `from` on, to those of the layout.
func (l *Layout) take(from, n int) {
	for n > 0 {
		index, place := uint32(from/prng.BlockLen), from%prng.BlockLen
		count := min(n, prng.BlockLen-place)
		if last := len(l.blocks) - 1; last < 0 || l.blocks[last].index != index {
			l.blocks = append(l.blocks, block{index: index})
		}
		b := &l.blocks[len(l.blocks)-1]
		b.runs = append(b.runs, run{place, count, l.factors})
		from, n, l.factors = from+count, n-count, l.factors+count
	}
}

// Len returns the number of elements of the vector.
func (l *Layout) Len() int { return l.length }

// Factors returns the number of signs that a direction takes.
func (l *Layout) Factors() int { return l.factors }

// Blocks returns the number of blocks of prng that hold the factors of a direction.
func (l *Layout) Blocks() int { return len(l.blocks) }

// A piece is a part of the vector within a segment: from column `from` of row `row` on.
type piece struct {
	*segment
	row, from int
}

// check panics if elements [at, at+n) are not all in the vector.
func (l *Layout) check(at, n int) {
	if at < l.first || n > l.length-at {
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
