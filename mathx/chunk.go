package mathx

// chunk is how many elements of each column are in flight in float64: 16 KiB of
// MaxColumns, so that they stay in the first cache.
const chunk = 32

// widenGeneric sets dst to x and, if that is shorter, zeros.
func widenGeneric(dst *[chunk]float64, x []float32) {
	for i, v := range x {
		dst[i] = float64(v)
	}
	clear(dst[len(x):])
}

// narrowGeneric sets dst, which may be shorter, to x, rounded.
func narrowGeneric(dst []float32, x *[chunk]float64) {
	for i := range dst {
		dst[i] = float32(x[i])
	}
}
