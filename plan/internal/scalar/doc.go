// Package scalar encodes scalars in fewer bits than float32 has. Its functions return the same bits
// on every processor.
package scalar
