package mathx

// chunk is how many elements of each column Gram and Orthonormalize convert to float64 at a time.
// For MaxColumns columns these take 16 KiB, so they fit into the first-level cache.
const chunk = 32

// widenGeneric sets dst to x, followed by zeros if x is shorter.
func widenGeneric(dst *[chunk]float64, x []float32) {
	for i, v := range x {
		dst[i] = float64(v)
	}
	clear(dst[len(x):])
}

// narrowGeneric sets dst to the first elements of x, rounded to float32.
func narrowGeneric(dst []float32, x *[chunk]float64) {
	for i := range dst {
		dst[i] = float32(x[i])
	}
}
