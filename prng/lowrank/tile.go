package lowrank

import (
	"fmt"

	"github.com/zofl/zofl/prng"
)

// A Tile is a part of a vector within a segment: some columns of some rows.
type Tile struct {
	First         int // element where the first row begins
	Column        int // the first column
	Rows, Columns int
	Stride        int // from one row to the next
}

// Tiles divides the vector into tiles of at most so many elements, one block of prng or more. They
// have the shape for which [Layout.SumTile] is fast on this processor. Their order is that of their
// rows.
func (l *Layout) Tiles(most int) (tiles []Tile) {
	for i := range l.segments {
		s := &l.segments[i]
		rows, columns := tileOf(s.rows, s.columns, most)
		if rows == 0 {
			columns = min(s.columns, prng.BlockLen)
			if rows = 1; columns == s.columns {
				rows = max(1, most/columns)
			}
		}
		for row := 0; row < s.rows; row += rows {
			for from := 0; from < s.columns; from += columns {
				tiles = append(tiles, Tile{
					First: s.start + row*s.columns, Column: from, Rows: min(rows, s.rows-row),
					Columns: min(columns, s.columns-from), Stride: s.columns,
				})
			}
		}
	}
	return tiles
}

// At returns the first element of the tile.
func (t *Tile) At() int { return t.First + t.Column }

// Len returns the number of elements.
func (t *Tile) Len() int { return t.Rows * t.Columns }

// Contiguous says whether no other element is between those of the tile.
func (t *Tile) Contiguous() bool { return t.Rows == 1 || t.Columns == t.Stride }

// Span returns elements [from, to) that have the tile and the other tiles of its rows, or that are
// the tile.
func (t *Tile) Span() (from, to int) {
	if t.Rows == 1 {
		return t.At(), t.At() + t.Columns
	}
	return t.First, t.First + t.Rows*t.Stride
}

// Pack sets dst to the elements that vector v has in the tile, row by row.
func (t *Tile) Pack(dst, v []float32) {
	copyRows(dst[:t.Len()], t.Columns, v[t.At():t.end()], t.Stride, t.Columns)
}

// Unpack sets the elements that vector v has in the tile to src, as [Tile.Pack] packs them.
func (t *Tile) Unpack(v, src []float32) {
	copyRows(v[t.At():t.end()], t.Stride, src[:t.Len()], t.Columns, t.Columns)
}

// end returns the element after the last one.
func (t *Tile) end() int { return t.At() + (t.Rows-1)*t.Stride + t.Columns }

// copyEachRow copies columns elements of each row. Rows begin dstNext and srcNext elements apart,
// and dst and src end with the last one.
func copyEachRow(dst []float32, dstNext int, src []float32, srcNext, columns int) {
	for {
		copy(dst[:columns], src)
		if len(dst) == columns {
			return
		}
		dst, src = dst[dstNext:], src[srcNext:]
	}
}

// SumTile is [Layout.Sum] for the elements of a tile, in the order of [Tile.Pack]. The tile is of
// the layout or, for a part of a layout, of that.
func (l *Layout) SumTile(dst []float32, tile *Tile, s *Signs, t *Sums) {
	t.check(s)
	l.check(tile.At(), tile.end()-tile.At())
	_, p := l.find(tile.At())
	if p.row+tile.Rows > p.rows || p.from+tile.Columns > p.columns {
		panic(fmt.Sprintf("lowrank: no matrix has tile %+v", *tile))
	}
	t.add(dst[:tile.Len()], tile.Columns, s, p)
}
