//go:build !amd64 || purego

package lowrank

// tileOf has no strips.
func tileOf(rows, columns, most int) (r, c int) { return 0, 0 }

func copyRows(dst []float32, dstNext int, src []float32, srcNext, columns int) {
	copyEachRow(dst, dstNext, src, srcNext, columns)
}
