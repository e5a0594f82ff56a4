//go:build (!amd64 && !arm64) || purego

package lowrank

// vectors tells whether there is assembly.
const vectors = false

func (t *Sums) addHalves(x []float32, width int, s *Signs, p piece) {
	panic("lowrank: no assembly")
}
