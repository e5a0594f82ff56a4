package mathx

import (
	"fmt"
	"math"
	"testing"
)

const guard = 12345

// guarded returns a copy of x at the given offset between guard values, and a
// check that they still stand.
func guarded(x []float32, offset int) (inner []float32, intact func() bool) {
	all := make([]float32, offset+len(x)+4)
	for i := range all {
		all[i] = guard
	}
	inner = all[offset : offset+len(x) : offset+len(x)]
	copy(inner, x)
	return inner, func() bool {
		for i, v := range all {
			if (i < offset || i >= offset+len(x)) && v != guard {
				return false
			}
		}
		return true
	}
}

// The naive versions go through float64, in which a product of two float32 is
// exact and which rounds a sum to the same float32; nothing is left to fuse.

func product(a, b float32) float32 { return float32(float64(a) * float64(b)) }

func naiveAxpy(dst []float32, a, _ float32, x []float32) {
	for i := range dst {
		dst[i] = float32(float64(dst[i]) + float64(product(a, x[i])))
	}
}

func naiveDescend(x []float32, eta, _ float32, v []float32) {
	for i := range x {
		x[i] = float32(float64(x[i]) - float64(product(eta, v[i])))
	}
}

func naiveMomentum(m []float32, beta, gain float32, v []float32) {
	for i := range m {
		m[i] = float32(float64(product(beta, m[i])) + float64(product(gain, v[i])))
	}
}

func TestVectorsMatchNaive(t *testing.T) {
	type kernel func(dst []float32, a, b float32, x []float32)
	tests := []struct {
		name       string
		fast, slow kernel
	}{
		{"Axpy", func(d []float32, a, _ float32, x []float32) { Axpy(d, a, x) }, naiveAxpy},
		{"Descend", func(d []float32, a, _ float32, x []float32) { Descend(d, a, x) }, naiveDescend},
		{"Momentum", Momentum, naiveMomentum},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := lcg(1)
			for n := 0; n <= 1025; n++ {
				a, b := g.float32(120), g.float32(120)
				dst, x := g.vector(n, 120), g.vector(n, 120)
				want := append([]float32(nil), dst...)
				tt.slow(want, a, b, x)
				got, dstIntact := guarded(dst, n&3)
				src, srcIntact := guarded(x, n>>2&3)
				tt.fast(got, a, b, src)
				if i := firstDifference(got, want); i >= 0 {
					t.Fatalf("n=%d: got[%d] = %v, want %v", n, i, got[i], want[i])
				}
				if firstDifference(src, x) >= 0 || !srcIntact() || !dstIntact() {
					t.Fatalf("n=%d: wrote outside the destination", n)
				}
			}
		})
	}
}

func TestVectorsInPlace(t *testing.T) {
	g := lcg(2)
	x := g.vector(100, 120)
	want := append([]float32(nil), x...)
	naiveMomentum(want, 0.9, 0.1, x)
	Momentum(x, 0.9, 0.1, x)
	if i := firstDifference(x, want); i >= 0 {
		t.Errorf("got[%d] = %v, want %v", i, x[i], want[i])
	}
}

// firstDifference returns the first index at which the bits differ, or -1.
func firstDifference(x, y []float32) int {
	for i := range x {
		if math.Float32bits(x[i]) != math.Float32bits(y[i]) {
			return i
		}
	}
	return -1
}

func TestSumSquares(t *testing.T) {
	g := lcg(3)
	for _, n := range []int{0, 1, 2, 4095, 4096, 4097, 8192, 8193, 20000} {
		x := g.vector(n, 110)
		sums := make([]float64, n/4096+1)
		for i, v := range x {
			sums[i/4096] += math.Pow(float64(v), 2) // exact: 48 bits
		}
		var want, streamed float64
		for b, s := range sums {
			want += s
			streamed += SumSquares(x[b*4096 : min(b*4096+4096, n)])
		}
		if got := SumSquares(x); got != want || streamed != want {
			t.Errorf("n=%d: got %v, block by block %v, want %v", n, got, streamed, want)
		}
	}
}

func TestVectorsPanicOnLengthMismatch(t *testing.T) {
	short, long := make([]float32, 3), make([]float32, 4)
	tests := map[string]func(){
		"Axpy short source":     func() { Axpy(long, 1, short) },
		"Axpy long source":      func() { Axpy(short, 1, long) },
		"Descend short source":  func() { Descend(long, 1, short) },
		"Descend long source":   func() { Descend(short, 1, long) },
		"Momentum short source": func() { Momentum(long, 1, 1, short) },
		"Momentum long source":  func() { Momentum(short, 1, 1, long) },
	}
	for name, call := range tests {
		t.Run(name, func(t *testing.T) { wantPanic(t, badLength, call) })
	}
}

func wantPanic(t *testing.T, want string, call func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("got panic %v, want %q", got, want)
		}
	}()
	call()
}

var sink float64 // keeps a benchmarked result alive

func BenchmarkVectors(b *testing.B) {
	for _, n := range []int{64, 4096, 1 << 20} {
		g := lcg(4)
		dst, x := g.vector(n, 110), g.vector(n, 110)
		run := func(name string, call func()) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(4 * n))
				for b.Loop() {
					call()
				}
			})
		}
		run("Axpy", func() { Axpy(dst, 1e-3, x) })
		run("Descend", func() { Descend(dst, 1e-3, x) })
		run("Momentum", func() { Momentum(dst, 0.9, 0.1, x) })
		run("SumSquares", func() { sink += SumSquares(x) })
	}
}
