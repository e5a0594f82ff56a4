// Package isa says which instruction sets the kernels of this module use.
//
// The bits of a result never depend on it: it is for speed alone, and for tests
// and benchmarks that want one kernel rather than another.
package isa

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// A Level is an instruction set. Those of amd64 are ordered: each has those
// before it.
type Level int32

const (
	// Generic is Go code.
	Generic Level = iota
	// AVX2 is amd64 with AVX2.
	AVX2
	// AVX512 is amd64 with AVX-512 F, DQ, BW and VL.
	AVX512
	// NEON is arm64, which always has it.
	NEON
)

var names = [...]string{"generic", "avx2", "avx512", "neon"}

// String returns the level's name: generic, avx2, avx512 or neon.
func (l Level) String() string {
	if l < 0 || int(l) >= len(names) {
		return fmt.Sprintf("level %d", int32(l))
	}
	return names[l]
}

// Parse returns the level of a name.
func Parse(name string) (Level, error) {
	for l, n := range names {
		if n == name {
			return Level(l), nil
		}
	}
	return 0, fmt.Errorf("isa: unknown instruction set %q: want one of %q", name, names)
}

var (
	levels  = detect()
	current atomic.Int32
)

func init() { current.Store(int32(Best())) }

// Levels returns what this machine and its operating system have, from Generic
// to [Best]. The caller must not change it.
func Levels() []Level { return levels }

// Best returns the fastest level that there is; Generic in a build with the tag
// purego.
func Best() Level { return levels[len(levels)-1] }

// Current returns the level in use, Best unless [Use] said otherwise.
func Current() Level { return Level(current.Load()) }

// Use has all kernels use a level from now on, and returns what they used
// before. It panics if the machine does not have it.
func Use(l Level) (before Level) {
	if !slices.Contains(levels, l) {
		panic(fmt.Sprintf("isa: this machine has no %v, only %v", l, levels))
	}
	return Level(current.Swap(int32(l)))
}
