//go:build !purego

package mathx

import "github.com/zofl/zofl/internal/isa"

func widen(dst *[chunk]float64, x []float32) {
	if len(x) == chunk && isa.Current() >= isa.AVX2 {
		widenAVX2(dst, (*[chunk]float32)(x))
	} else {
		widenGeneric(dst, x)
	}
}

func narrow(dst []float32, x *[chunk]float64) {
	if len(dst) == chunk && isa.Current() >= isa.AVX2 {
		narrowAVX2((*[chunk]float32)(dst), x)
	} else {
		narrowGeneric(dst, x)
	}
}

func addTile(sums *[4][4]float64, x, y *[4][chunk]float64, rows int) {
	if isa.Current() >= isa.AVX2 {
		addTileAVX2(sums, x, y) // the rows beyond are never read
	} else {
		addTileGeneric(sums, x, y, rows)
	}
}

func substitute(t *[chunk]float64, q *[MaxColumns][chunk]float64, r []float64) {
	if isa.Current() >= isa.AVX2 {
		substituteAVX2(t, &q[0], r)
	} else {
		substituteGeneric(t, q, r)
	}
}
