//go:build !amd64 || purego

package prng

func dotBlock(g []float32, z *Direction, block uint32) float64 {
	return dotBlockGeneric(g, z, block)
}

func (s *signs) dot(g []float32) float64 { return s.dotGeneric(g) }
