// Package isa selects the instruction set that the kernels of this module use.
//
// The instruction set affects only speed, never the bits of a result. Tests and benchmarks use this
// package to select a kernel.
package isa

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// A Level is an instruction set. The instruction sets of amd64 are ordered: each includes the sets
// before it.
type Level int32

const (
	// Generic is Go code.
	Generic Level = iota
	// AVX2 is amd64 with AVX2.
	AVX2
	// AVX512 is amd64 with AVX-512 F, DQ, BW and VL.
	AVX512
	// NEON is arm64 with NEON, which every arm64 processor has.
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

// Parse returns the level that has the given name.
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

// Levels returns the levels of this machine and its operating system, from Generic to
// [Best]. The caller must not change the slice.
func Levels() []Level { return levels }

// Best returns the fastest level of this machine; Generic in a build with the tag purego.
func Best() Level { return levels[len(levels)-1] }

// Current returns the level in use: Best, unless [Use] selected another.
func Current() Level { return Level(current.Load()) }

// Use selects the level of all kernels from now on, and returns the previous one. Use panics if the
// machine does not have that instruction set.
func Use(l Level) (before Level) {
	if !slices.Contains(levels, l) {
		panic(fmt.Sprintf("isa: this machine has no %v, only %v", l, levels))
	}
	return Level(current.Swap(int32(l)))
}
