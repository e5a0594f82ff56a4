//go:build (!amd64 && !arm64) || purego

package prng

func (s *signs) perturb(dst, x []float32, a float32) { s.perturbGeneric(dst, x, a) }

func (s *signs) perturbPair(plus, minus, x []float32, a float32) {
	s.perturbPairGeneric(plus, minus, x, a)
}
