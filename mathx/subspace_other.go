//go:build !amd64 || purego

package mathx

func widen(dst *[chunk]float64, x []float32) { widenGeneric(dst, x) }

func narrow(dst []float32, x *[chunk]float64) { narrowGeneric(dst, x) }

func addTile(sums *[4][4]float64, x, y *[4][chunk]float64, rows int) {
	addTileGeneric(sums, x, y, rows)
}

func substitute(t *[chunk]float64, q *[MaxColumns][chunk]float64, r []float64) {
	substituteGeneric(t, q, r)
}
