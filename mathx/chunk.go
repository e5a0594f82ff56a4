package mathx

// chunk is the number of elements of each column that are converted to float64 at a
// time: 16 KiB for MaxColumns columns, which fits the first-level cache.
const chunk = 32

// widenGeneric sets dst to x, followed by zeros if x is shorter.
func widenGeneric(dst *[chunk]float64, x []float32) {
	for i, v := range x {
		dst[i] = float64(v)
	}
	clear(dst[len(x):])
}

// narrowGeneric sets dst, which may be shorter than x, to x rounded.
func narrowGeneric(dst []float32, x *[chunk]float64) {
	for i := range dst {
		dst[i] = float32(x[i])
	}
}
