// Package flush sets whether the processor flushes subnormal numbers to zero, as a library in C
// that was linked with -ffast-math does, for tests.
package flush

// MXCSR's bits: results that are subnormal, and operands, count as zero.
const both = 1<<15 | 1<<6

// While calls f with a thread of its own that flushes. It reports whether it could: only on amd64.
func While(f func()) bool { return while(f) }
