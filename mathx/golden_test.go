package mathx

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/internal/isa/isatest"
)

const goldenCount = 91

// lcg is Knuth's 64-bit linear congruential generator. It uses only integers, so that
// inputs are the same everywhere, and easy to generate in another language.
type lcg uint64

func (g *lcg) next() uint32 {
	*g = *g*6364136223846793005 + 1442695040888963407
	return uint32(*g >> 32)
}

// float32 returns a value with a biased exponent of exp to exp+15 and 23 random bits of
// fraction.
func (g *lcg) float32(exp uint32) float32 {
	u := g.next()
	return math.Float32frombits(u&(1<<31) | (exp+u>>23&15)<<23 | u&(1<<23-1))
}

func (g *lcg) vector(n int, exp uint32) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = g.float32(exp)
	}
	return x
}

// fraction returns a value in [0.5,1).
func (g *lcg) fraction() float32 {
	return math.Float32frombits(126<<23 | g.next()&(1<<23-1))
}

// absolute clears the signs of x.
func absolute(x []float32) {
	for i, v := range x {
		x[i] = math.Float32frombits(math.Float32bits(v) &^ (1 << 31))
	}
}

// goldenResult computes the bytes that a line of testdata/golden.txt hashes.
func goldenResult(op string, n int, seed uint64, exp uint32) []byte {
	g := lcg(seed)
	switch op {
	case "sumsquares":
		return bytesOf64(SumSquares(g.vector(n, exp)))
	case "momentumstep":
		beta, gain, eta := g.fraction(), g.fraction(), g.float32(110)
		x, m, v := g.vector(n, exp), g.vector(n, exp), g.vector(n, exp)
		MomentumStep(x, m, beta, gain, eta, v)
		return slices.Concat(bytesOf(x), bytesOf(m))
	case "adaptivestep":
		c := Adaptive{Alpha: g.float32(110), Beta1: g.fraction(), Beta2: g.fraction()}
		epsilon := g.vector(1, exp)
		absolute(epsilon)
		c.Epsilon = epsilon[0]
		x, m, v := g.vector(n, exp), g.vector(n, exp), g.vector(n, exp)
		vhat, delta := g.vector(n, exp), g.vector(n, exp)
		absolute(v)
		absolute(vhat)
		AdaptiveStep(x, m, v, vhat, c, delta)
		return slices.Concat(bytesOf(x), bytesOf(m), bytesOf(v), bytesOf(vhat))
	case "adamstep":
		return goldenMoments(&g, n, exp, AdamStep)
	case "yogistep":
		return goldenMoments(&g, n, exp, YogiStep)
	case "adagradstep":
		return goldenMoments(&g, n, exp, AdaGradStep)
	case "dot":
		return bytesOf64(Dot(g.vector(n, exp), g.vector(n, exp)))
	case "norm":
		return bytesOf64(Norm(g.vector(n, exp)))
	case "medianof":
		medians := make([]float32, 16)
		for i := range medians {
			medians[i] = MedianOf(g.vector(n+i, exp))
		}
		return bytesOf(medians)
	case "qr":
		return goldenQR(&g, n, exp)
	case "exactsum":
		means := make([]float32, 16)
		for i := range means {
			var s ExactSum
			var total uint64
			for range n {
				x := g.float32(exp)
				w := 1 + g.next()&(1<<20-1)
				s.Add(x, w)
				total += uint64(w)
			}
			means[i] = s.Mean(total)
		}
		return bytesOf(means)
	}
	a, b := g.float32(120), g.float32(120)
	dst, x := g.vector(n, exp), g.vector(n, exp)
	switch op {
	case "axpy":
		Axpy(dst, a, x)
	case "descend":
		Descend(dst, a, x)
	case "momentum":
		Momentum(dst, a, b, x)
	case "signstep":
		SignStep(dst, a, x)
	case "scale":
		Scale(dst, a, x)
	case "sub":
		Sub(dst, dst, x)
	default:
		panic("unknown operation " + op)
	}
	return bytesOf(dst)
}

// goldenMoments returns the state of a rule with two moments after one step.
func goldenMoments(g *lcg, n int, exp uint32,
	step func(x, m, v []float32, c Adaptive, delta []float32)) []byte {
	c := Adaptive{Alpha: g.float32(110), Beta1: g.fraction(), Beta2: g.fraction()}
	epsilon := g.vector(1, exp)
	absolute(epsilon)
	c.Epsilon = epsilon[0]
	x, m, v := g.vector(n, exp), g.vector(n, exp), g.vector(n, exp)
	absolute(v)
	step(x, m, v, c, g.vector(n, exp))
	return slices.Concat(bytesOf(x), bytesOf(m), bytesOf(v))
}

// goldenQR returns the Gram matrix, R and Q of seven columns; the third equals the first,
// and the sixth is zeros.
func goldenQR(g *lcg, n int, exp uint32) []byte {
	columns := g.columns(7, n, exp)
	copy(columns[2], columns[0])
	clear(columns[5])
	gram := gramOf(columns)
	r := make([]float64, len(gram))
	Cholesky(r, gram)
	return slices.Concat(bytesOf64(gram...), bytesOf64(r...),
		bytesOf(slices.Concat(orthonormalized(columns, r)...)))
}

func bytesOf64(x ...float64) []byte {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

func bytesOf(x []float32) []byte {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func TestGolden(t *testing.T) { isatest.Each(t, testGolden) }

func testGolden(t *testing.T) {
	f, err := os.Open("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	count := 0
	for in := bufio.NewScanner(f); in.Scan(); {
		line := in.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		var op, want string
		var n int
		var seed uint64
		var exp uint32
		if _, err := fmt.Sscan(line, &op, &n, &seed, &exp, &want); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		count++
		got := fmt.Sprintf("%x", sha256.Sum256(goldenResult(op, n, seed, exp)))
		if got != want {
			t.Errorf("%s n=%d seed=%d exp=%d: got %s, want %s", op, n, seed, exp, got, want)
		}
	}
	if count != goldenCount {
		t.Errorf("got %d vectors, want %d", count, goldenCount)
	}
}
