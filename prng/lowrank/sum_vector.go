//go:build (amd64 || arm64) && !purego

package lowrank

// vectors tells whether there is assembly.
const vectors = true

// tile is the number of elements that stay in the first cache while groups pass over them.
const tile = 4096

// addHalves adds to rows of width elements the sums of the groups that have halves.
func (t *Sums) addHalves(x []float32, width int, s *Signs, p piece) {
	done := t.addStrips(x, width, s, p)
	if done == 0 {
		clearNegativeZeros(x)
	}
	for at := 0; done > 0 && done < width && at < len(x); at += width {
		clearEachNegativeZero(x[at+done : at+width])
	}
	for r := 0; len(x) > 0 && done < width; {
		rows := 4
		for len(x) < rows*width {
			rows /= 2
		}
		for from := done; from < width; from += tile / rows {
			columns := min(tile/rows, width-from)
			part := piece{p.segment, p.row + r, p.from + from}
			whole := columns - columns%unit
			if whole > 0 {
				t.addRows(x[from:], rows, width, whole, s, part)
			}
			if whole < columns {
				part.from += whole
				t.addRest(x[from+whole:], rows, width, columns-whole, s, part)
			}
		}
		x, r = x[rows*width:], r+rows
	}
}

// pointers returns what the assembly takes for row r of p.
func (t *Sums) pointers(s *Signs, p piece, r int) (a *uint8, next int, b *uint8,
	sums *[2][8]float32) {
	g := len(t.tables)
	a, next = s.rowSigns(g, p, r)
	return a, next, &s.bytes[g*s.stride+p.b+p.from], (*[2][8]float32)(&t.halves[0])
}

// addRest adds to the columns elements of rows, stride elements apart, for which a vector is too
// long.
func (t *Sums) addRest(x []float32, rows, stride, columns int, s *Signs, p piece) {
	for g := range t.halves {
		at := (len(t.tables) + g) * s.stride
		b := s.bytes[at+p.b+p.from:][:columns]
		for r := range rows {
			a, _ := s.rowSigns(len(t.tables)+g, p, r)
			for j := range b {
				x[r*stride+j] += t.halves[g].sum(*a ^ b[j])
			}
		}
	}
}

// sum returns the sum of a group for a byte of Signs.
func (t *halves) sum(b byte) float32 {
	return signed(t[0][b&7], int(b>>3&1)) + signed(t[1][b>>4&7], int(b>>7))
}

// clearEachNegativeZero makes each -0 a +0, as a group does whose coefficients are not all zero.
func clearEachNegativeZero(x []float32) {
	for i := range x {
		x[i] += 0
	}
}
