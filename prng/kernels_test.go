package prng

import (
	"fmt"
	"math"
	"testing"

	"github.com/zofl/zofl/internal/isa/isatest"
)

// guard is the value around every destination. A kernel that writes outside the destination changes
// a guard.
const guard = 12345.5

// guarded returns a slice of n elements, values of a smooth ramp, between guards.
func guarded(n int) (inner, whole []float32) {
	whole = make([]float32, n+32)
	for i := range whole {
		whole[i] = guard
	}
	inner = whole[16 : 16+n]
	for i := range inner {
		inner[i] = 1 - float32(i)/3000
	}
	return inner, whole
}

func checkGuards(t *testing.T, whole []float32) {
	t.Helper()
	for i := range 16 {
		if whole[i] != guard || whole[len(whole)-1-i] != guard {
			t.Fatalf("length %d: wrote outside the destination", len(whole)-32)
		}
	}
}

func checkSame(t *testing.T, name string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s, length %d, element %d: got %v, want %v", name, len(want), i, got[i],
				want[i])
		}
	}
}

// lengths returns all short lengths, and the lengths around the borders of rows, chunks, blocks and
// tiles. With -short it returns only every 13th short length.
func lengths() []int {
	var all []int
	step := 1
	if testing.Short() {
		step = 13
	}
	for n := 0; n < 1026; n += step {
		all = append(all, n)
	}
	for _, border := range []int{2048, 4096, 5120, 8192, 12288, 16384} {
		for _, off := range []int{-65, -64, -17, -16, -2, -1, 0, 1, 2, 15, 16, 17, 63, 64, 65} {
			all = append(all, border+off)
		}
	}
	return all
}

const longest = 16384 + 65

var testDirection = Direction{
	Key: 0x0123456789abcdef, Step: 3, Perturbation: 7, Source: 5, Domain: Subspace,
}

var distributions = map[string]Distribution{"normal": Normal, "rademacher": Rademacher}

func TestKernelsMatchReference(t *testing.T) { isatest.Each(t, testKernelsMatchReference) }

func testKernelsMatchReference(t *testing.T) {
	const block = 77
	const a = float32(0.0371)
	for name, dist := range distributions {
		t.Run(name, func(t *testing.T) {
			z := testDirection
			z.Dist = dist
			all := refFill(z, block, longest)
			for _, n := range lengths() {
				want := refPerturb(ramp(n), all, a)
				dst, whole := guarded(n)
				Axpy(dst, a, z, block)
				checkSame(t, "Axpy", dst, want)
				Perturb(dst, ramp(n), a, z, block)
				checkSame(t, "Perturb", dst, want)
				copy(dst, ramp(n))
				Perturb(dst, dst, a, z, block)
				checkSame(t, "Perturb in place", dst, want)
				Fill(dst, z, block)
				checkSame(t, "Fill", dst, all[:n])
				minus, below := guarded(n)
				PerturbPair(dst, minus, ramp(n), a, z, block)
				checkSame(t, "PerturbPair plus", dst, want)
				checkSame(t, "PerturbPair minus", minus, refPerturb(ramp(n), all, -a))
				copy(dst, ramp(n))
				PerturbPair(dst, minus, dst, a, z, block)
				checkSame(t, "PerturbPair in place", dst, want)
				checkGuards(t, whole)
				checkGuards(t, below)
			}
		})
	}
}

func ramp(n int) []float32 {
	x, _ := guarded(n)
	return x
}

func TestUniformMatchesReference(t *testing.T) {
	all := refUniform(testDirection, 9, longest)
	for _, n := range lengths() {
		dst, whole := guarded(n)
		Uniform(dst, testDirection, 9)
		checkSame(t, "Uniform", dst, all[:n])
		checkGuards(t, whole)
	}
}

// terms returns one term for each letter of a pattern: n a normal, r a Rademacher direction.
func terms(pattern string) []Term {
	var all []Term
	for i, letter := range pattern {
		z := testDirection
		z.Perturbation = uint16(i)
		z.Dist = Normal
		if letter == 'r' {
			z.Dist = Rademacher
		}
		all = append(all, Term{A: float32(i+1) / 700, Z: z})
	}
	return all
}

func TestSumMatchesReference(t *testing.T) { isatest.Each(t, testSumMatchesReference) }

func testSumMatchesReference(t *testing.T) {
	const block = 31
	for _, pattern := range []string{
		"", "n", "r", "rrrrrrr", "rrrrrrrr", "rrrrrrrrr", "rrrrrrrnrrrrrrrr", "nrrrrrrrrn",
		"rrrrrrrrrrrrrrrrrrrn",
	} {
		t.Run(fmt.Sprintf("%q", pattern), func(t *testing.T) {
			list := terms(pattern)
			var z [][]float32
			for _, term := range list {
				z = append(z, refFill(term.Z, block, longest))
			}
			want := refSum(ramp(longest), list, z)
			for _, n := range lengths() {
				dst, whole := guarded(n)
				Sum(dst, list, block)
				checkSame(t, "Sum", dst, want[:n])
				checkGuards(t, whole)
			}
		})
	}
}

func TestBlocksAreIndependent(t *testing.T) {
	for name, dist := range distributions {
		z := testDirection
		z.Dist = dist
		whole, part := make([]float32, 3*BlockLen), make([]float32, BlockLen)
		Fill(whole, z, 40)
		for b := range 3 {
			Fill(part, z, 40+uint32(b))
			checkSame(t, name, part, whole[b*BlockLen:(b+1)*BlockLen])
		}
	}
}

func TestKernelsDoNotAllocate(t *testing.T) {
	dst, minus := make([]float32, 2*BlockLen+100), make([]float32, 2*BlockLen+100)
	list := terms("rrrrrrrrnrr")
	keys := NewKeyring([]byte("run key"))
	keys.Key(1)
	for name, f := range map[string]func(){
		"Fill":        func() { Fill(dst, list[8].Z, 0); Fill(dst, list[0].Z, 0) },
		"Axpy":        func() { Axpy(dst, 0.5, list[8].Z, 0); Axpy(dst, 0.5, list[0].Z, 0) },
		"Perturb":     func() { Perturb(dst, dst, 0.5, list[8].Z, 0) },
		"PerturbPair": func() { PerturbPair(dst, minus, dst, 0.5, list[8].Z, 0) },
		"Sum":         func() { Sum(dst, list, 0) },
		"Uniform":     func() { Uniform(dst, list[0].Z, 0) },
		"SquaredNorm": func() { SquaredNorm(list[8].Z, 9000) },
		"Key":         func() { keys.Key(7) },
		"Philox":      func() { Philox([4]uint32{}, 1) },
	} {
		if got := testing.AllocsPerRun(20, f); got != 0 {
			t.Errorf("%s: got %v allocations, want 0", name, got)
		}
	}
}

func TestCallerBugsPanic(t *testing.T) {
	z := testDirection
	z.Dist = Normal
	x := make([]float32, BlockLen+1)
	for _, test := range []struct {
		name, want string
		call       func()
	}{
		{"block", blockOutOfRange, func() { Fill(x, z, MaxBlocks-1) }},
		{"axpy block", blockOutOfRange, func() { Axpy(x, 1, z, MaxBlocks-1) }},
		{"perturb block", blockOutOfRange, func() { Perturb(x, x, 1, z, MaxBlocks-1) }},
		{"uniform block", blockOutOfRange, func() { Uniform(x, z, MaxBlocks) }},
		{"sum block", blockOutOfRange, func() { Sum(x, nil, 1<<32-1) }},
		{"norm block", blockOutOfRange, func() { SquaredNorm(z, 1<<41+1) }},
		{"length", lengthMismatch, func() { Perturb(x, x[1:], 1, z, 0) }},
		{"slot", slotOutOfRange, func() { Slot(math.MaxUint32) }},
		{"distribution", unknownDistribution, func() { Fill(x, Direction{}, 0) }},
		{"axpy distribution", unknownDistribution, func() { Axpy(x, 1, Direction{Dist: 3}, 0) }},
		{"pair length", lengthMismatch, func() { PerturbPair(x, x[1:], x, 1, z, 0) }},
		{"pair block", blockOutOfRange, func() { PerturbPair(x, x, x, 1, z, MaxBlocks-1) }},
		{"pair distribution", unknownDistribution,
			func() { PerturbPair(x, x, x, 1, Direction{}, 0) }},
		{"sum distribution", unknownDistribution, func() { Sum(x, []Term{{}}, 0) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				if got := recover(); got != test.want {
					t.Errorf("got panic %v, want %q", got, test.want)
				}
			}()
			test.call()
		})
	}
	Fill(x[:BlockLen], z, MaxBlocks-1)
}
