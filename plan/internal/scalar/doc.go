// Package scalar encodes scalars in fewer bits than float32 has. Everything in it gives the same
// bits on every processor.
package scalar
