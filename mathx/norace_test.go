//go:build !race

package mathx

// stride is the distance between the lengths that tests try.
const stride = 1
