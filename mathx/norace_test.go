//go:build !race

package mathx

// stride is between the lengths that are tried.
const stride = 1
