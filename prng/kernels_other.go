//go:build !amd64 || purego

package prng

func fillBlock(dst []float32, z *Direction, block uint32) { fillBlockGeneric(dst, z, block) }

func uniformBlock(dst []float32, z *Direction, block uint32) { uniformBlockGeneric(dst, z, block) }

func perturbBlock(dst, x []float32, a float32, z *Direction, block uint32) {
	perturbBlockGeneric(dst, x, a, z, block)
}

func perturbPairBlock(plus, minus, x []float32, a float32, z *Direction, block uint32) {
	perturbPairBlockGeneric(plus, minus, x, a, z, block)
}

func (s *signs) load(z *Direction, block uint32) { s.loadGeneric(z, block) }

func (t *groupSums) set(terms *[groupLen]Term) { t.setGeneric(terms[:]) }

func (t *groupSums) add(dst []float32, s *[groupLen]signs) { t.addGeneric(dst, s, 0) }
