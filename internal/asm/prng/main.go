// Command prng generates the assembly of package prng: the kernels of its specification
// for vectors of the eight lanes.
//
// Register names follow the specification: s0 and s1 are the lanes' states, w
// the words, f the words as floats, c1 and c0 the coefficients of f's segment.
// No instruction fuses a product and a sum.
package main

import . "github.com/mmcloughlin/avo/build"

// Types of parameters, as in package prng.
const (
	lanesType = "*[2][8]uint64"
	pairsType = "*[32768][2]float32"
	signsType = "*[64]uint64"
)

func main() {
	ConstraintExpr("!purego")
	for _, m := range []machine{&avx2{}, &avx512{}} {
		seed(m)
		fill(m)
		perturb(m)
		perturbPair(m)
		loadSigns(m)
		perturbSigns(m)
		perturbPairSigns(m)
		dot(m)
		dotSigns(m)
	}
	setSums()
	addSums()
	Generate()
}
