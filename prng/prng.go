package prng

import "math"

// Scheme is the number of the published scheme that this package implements; see its
// specification.
const Scheme = 1

// BlockLen is the number of elements in a block, the unit of random access.
const BlockLen = 4096

// MaxBlocks is the number of blocks that a direction has; a vector has at most
// MaxBlocks*BlockLen = 2^41 elements.
const MaxBlocks = 1 << 29

const (
	blockOutOfRange     = "prng: block out of range"
	lengthMismatch      = "prng: length mismatch"
	slotOutOfRange      = "prng: slot out of range"
	unknownDistribution = "prng: unknown distribution"
)

// Distribution is the distribution of a direction's elements.
type Distribution uint8

const (
	// Normal is the standard normal distribution. Each element takes a 32-bit random word.
	Normal Distribution = 1
	// Rademacher is +1 or -1 with equal probability. Each element takes one random bit.
	Rademacher Distribution = 2
)

// Domain separates uses of random vectors that would otherwise have the same address.
type Domain uint32

const (
	// Directions are the perturbations of a step.
	Directions Domain = 0
	// Subspace holds the coordinates within a subspace of recent moves.
	Subspace Domain = 1
	// Initial holds the random initial parameters.
	Initial Domain = 2
	// Pool holds the fixed directions of a seed pool.
	Pool Domain = 3
	// Features holds the random features of a surrogate.
	Features Domain = 4
	// Factors holds the signs that make up directions of rank 1.
	Factors Domain = 5
)

// Shared is the Source of a direction that all devices share.
const Shared uint32 = 0

// Slot returns the Source of slot s, s+1. Slot panics for s = 2^32-1.
func Slot(s uint32) uint32 {
	if s == math.MaxUint32 {
		panic(slotOutOfRange)
	}
	return s + 1
}

// Direction is the address of a random vector. A Direction has no state: kernels do not change it.
type Direction struct {
	Key          Key
	Step         uint16 // local step within the record
	Perturbation uint16 // within the step
	Source       uint32 // Shared or Slot(s)
	Domain       Domain
	Dist         Distribution
}

// checkBlocks panics if elements [block*BlockLen, block*BlockLen+n) exceed the last block.
func checkBlocks(block uint32, n int) {
	if uint64(block)+(uint64(n)+BlockLen-1)/BlockLen > MaxBlocks {
		panic(blockOutOfRange)
	}
}

// checkDist panics if no kernel generates d.
func checkDist(d Distribution) {
	if d != Normal && d != Rademacher {
		panic(unknownDistribution)
	}
}
