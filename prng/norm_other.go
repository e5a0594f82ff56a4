//go:build !amd64 || purego

package prng

// start sets the states for the start of a block of z.
func (l *lanes) start(z *Direction, block uint32) { l.seedGeneric(z, block) }

// normals sets dst to the next normals of the lanes.
func (l *lanes) normals(dst *[chunkLen]float32) { fillChunk(dst, l) }
