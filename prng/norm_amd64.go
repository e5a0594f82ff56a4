//go:build !purego

package prng

import "github.com/zofl/zofl/internal/isa"

// start sets the states for the start of a block of z.
func (l *lanes) start(z *Direction, block uint32) {
	if level := isa.Current(); level >= isa.AVX2 {
		l.seed(z, block, level)
	} else {
		l.seedGeneric(z, block)
	}
}

// normals sets dst to the next normals of the lanes.
func (l *lanes) normals(dst *[chunkLen]float32) {
	if level := isa.Current(); level >= isa.AVX2 {
		fillRows(&dst[0], chunkLen/rowLen, l, level)
	} else {
		fillChunk(dst, l)
	}
}
