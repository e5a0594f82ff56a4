package scalar

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

var tested = map[string]struct {
	Quantizer
	bits        int
	step        *big.Rat
	least, most int64
}{
	"int8": {Int8, 8, big.NewRat(1, 32), -128, 127},
	"int4": {Int4, 4, big.NewRat(5, 16), -8, 7},
	"int2": {Int2, 2, big.NewRat(255, 256), -2, 1},
}

// halfOf returns the value of a finite binary16 that is not negative.
func halfOf(h int) float64 {
	if h < 1<<10 {
		return math.Ldexp(float64(h), -24)
	}
	return math.Ldexp(float64(1024+h&1023), h>>10-25)
}

// nearest returns the binary16 nearest to x >= 0, ties to even. nearest tries all binary16 numbers.
func nearest(x float64) int {
	best := 0
	for h := 1; h <= infinite; h++ {
		value := func(h int) float64 {
			if h == infinite {
				return 65536
			}
			return halfOf(h)
		}
		off, least := math.Abs(value(h)-x), math.Abs(value(best)-x)
		if off < least || off == least && h%2 == 0 {
			best = h
		}
	}
	return best
}

// code returns the code of s in exact arithmetic.
func exactCode(s float32, r float64, step *big.Rat, least, most int64) int64 {
	unit := new(big.Rat).Mul(step, new(big.Rat).SetFloat64(r))
	ratio := new(big.Rat).Quo(new(big.Rat).SetFloat64(float64(s)), unit)
	q := new(big.Int).Div(ratio.Num(), ratio.Denom()) // floors, as the denominator is positive
	switch {
	case q.Cmp(big.NewInt(least)) < 0:
		return least
	case q.Cmp(big.NewInt(most)) > 0:
		return most
	}
	return q.Int64()
}

// blockOf writes a block as its definition says, bit by bit.
func blockOf(r, bits int, codes []int64) []byte {
	b := make([]byte, 2+(len(codes)*bits+15)/16*2)
	b[0], b[1] = byte(r), byte(r>>8)
	for i, q := range codes {
		for j := range bits {
			at := i*bits + j
			b[2+at/8] |= byte(q>>j&1) << (at % 8)
		}
	}
	return b
}

// blocks returns blocks for tests of every quantizer: normal scalars of many magnitudes, and
// special cases.
func blocks() (list [][]float32) {
	rng := rand.New(rand.NewPCG(3, 5))
	for i := range 300 {
		block := make([]float32, 1+rng.IntN(25))
		size := math.Ldexp(1, rng.IntN(45)-30)
		for j := range block {
			block[j] = float32(size * rng.NormFloat64())
			if i%7 == 0 {
				block[j] = float32(math.Round(8*float64(block[j]))) / 8 // many are on an edge
			}
		}
		list = append(list, block)
	}
	zero := float32(math.Copysign(0, -1))
	return append(list, []float32{0}, []float32{zero, 0, 0}, []float32{0, 1, 0, 0}, []float32{1},
		[]float32{-1}, []float32{65504, -65504}, []float32{65519}, []float32{0x1p-24},
		[]float32{0x1p-25}, []float32{0x1.000002p-25}, []float32{1e-30}, []float32{0x1p-149, 0},
		[]float32{-1e-20, 1}, []float32{65504, 0, 0, 0, 0, 0, 0, 0, 0})
}

// Append writes the bits of the definition, computed in exact arithmetic, and Decode reads the
// values of the codes.
func TestBlocksAreExact(t *testing.T) {
	for name, z := range tested {
		for _, block := range blocks() {
			sum := 0.0
			for _, s := range block {
				sum += float64(s) * float64(s)
			}
			h := nearest(math.Sqrt(sum / float64(len(block))))
			codes, want := make([]int64, len(block)), make([]float32, len(block))
			for i, s := range block {
				if h == 0 {
					continue
				}
				codes[i] = exactCode(s, halfOf(h), z.step, z.least, z.most)
				c := new(big.Rat).Mul(z.step, new(big.Rat).SetFloat64(halfOf(h)))
				c.Mul(c, big.NewRat(2*codes[i]+1, 2))
				exact := false
				if want[i], exact = c.Float32(); !exact {
					t.Fatalf("%s: %v is no float32", name, c)
				}
			}
			b := z.Append([]byte{9}, block)
			if !bytes.Equal(b[1:], blockOf(h, z.bits, codes)) || b[0] != 9 {
				t.Fatalf("%s: %v: got %x, want %x", name, block, b[1:], blockOf(h, z.bits, codes))
			}
			got := make([]float32, len(block))
			z.Decode(got, b[1:])
			if !slices.Equal(got, want) || len(b)-1 != z.Bytes(len(block)) ||
				!z.Sound(b[1:], len(block)) {
				t.Fatalf("%s: %v: %x reads as %v, want %v; sound %t", name, block, b[1:], got, want,
					z.Sound(b[1:], len(block)))
			}
		}
	}
}

// Sound refuses blocks that Append cannot make: every impossible scale, and unused bits that are
// not zero.
func TestUnsoundBlocks(t *testing.T) {
	for name, z := range tested {
		for n := 1; n <= 20; n++ {
			b := z.Append(nil, slices.Repeat([]float32{1, -1}, 10)[:n])
			for bit := range 8 * len(b) {
				c := bytes.Clone(b)
				c[bit/8] ^= 1 << (bit % 8)
				h, used := int(c[0])|int(c[1])<<8, bit < 16+n*z.bits
				if got, want := z.Sound(c, n), h < infinite && used; got != want {
					t.Errorf("%s: %d scalars, %x, bit %d turned: sound %t", name, n, c, bit, got)
				}
			}
			for h := range 1 << 16 {
				b[0], b[1] = byte(h), byte(h>>8)
				if got, want := z.Sound(b, n), h > 0 && h < infinite; got != want {
					t.Fatalf("%s: scale %04x with codes: sound %t", name, h, got)
				}
			}
		}
	}
}

// For scalars that are too large, or not finite, Append writes a scale that Sound refuses.
func TestTooLarge(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for name, z := range tested {
		for _, block := range [][]float32{
			{65520}, {1e5, 1e5}, {math.MaxFloat32, math.MaxFloat32}, {inf, 1}, {nan, 1}, {-nan},
			{inf, nan},
		} {
			b := z.Append(nil, block)
			if z.Sound(b, len(block)) || len(b) != z.Bytes(len(block)) || slices.Max(b[2:]) > 0 {
				t.Errorf("%s: %v is written as %x", name, block, b)
			}
			got := make([]float32, len(block))
			z.Decode(got, b)
			for _, c := range got {
				if c-c == 0 {
					t.Errorf("%s: %v reads as %v", name, block, got)
				}
			}
		}
	}
}

// TestErrors checks the error of quantizers for normal scalars: at most half a step within the
// range of the codes, hardly biased, and with a mean square as small as the number of bits allows.
func TestErrors(t *testing.T) {
	for name, want := range map[string]float64{"int8": 1e-4, "int4": 0.0125, "int2": 0.13} {
		z, rng := tested[name], rand.New(rand.NewPCG(7, 11))
		bias, squares, total := 0.0, 0.0, 0
		step, _ := z.step.Float64()
		for range 2000 {
			block, got := make([]float32, 50), make([]float32, 50)
			for i := range block {
				block[i] = float32(3 * rng.NormFloat64())
			}
			b := z.Append(nil, block)
			z.Decode(got, b)
			r := halfOf(int(b[0]) | int(b[1])<<8)
			for i, c := range got {
				off := (float64(c) - float64(block[i])) / r
				bias, squares, total = bias+off, squares+off*off, total+1
				inside := math.Abs(float64(block[i])) < step*r*float64(z.most)
				if inside && math.Abs(off) > step/2*(1+1e-12) {
					t.Fatalf("%s: %v became %v, r is %v", name, block[i], c, r)
				}
			}
		}
		bias, squares = bias/float64(total), squares/float64(total)
		// 4.5 standard deviations of a mean of so many errors
		if limit := 4.5 * math.Sqrt(squares/float64(total)); math.Abs(bias) > limit ||
			squares > want || squares < want/2 {
			t.Errorf("%s: bias %v, mean square %v of r^2", name, bias, squares)
		}
	}
}

// Scale keeps the codes of a block. The new scale is at most the old scale times the factor, and
// hardly smaller.
func TestScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 17))
	for name, z := range tested {
		for _, block := range blocks() {
			b := z.Append(nil, block)
			factor := rng.Float64()
			if rng.IntN(9) == 0 {
				factor = math.Ldexp(1, -rng.IntN(30))
			}
			got := z.Scale([]byte{9}, b, factor)[1:]
			before, after := halfOf(int(b[0])|int(b[1])<<8), halfOf(int(got[0])|int(got[1])<<8)
			next := halfOf(int(got[0]) | int(got[1])<<8 + 1)
			codes := b[2:]
			if after == 0 {
				codes = make([]byte, len(codes))
			}
			if after > before*factor || next <= before*factor || !bytes.Equal(got[2:], codes) ||
				!z.Sound(got, len(block)) {
				t.Fatalf("%s: %x times %v is %x: %v became %v", name, b, factor, got, before, after)
			}
		}
	}
}

// FuzzBlock: Decode accepts any bytes.
func FuzzBlock(f *testing.F) {
	for _, z := range tested {
		for _, block := range blocks()[:9] {
			f.Add(z.Append(nil, block), uint8(len(block)))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, n uint8) {
		for name, z := range tested {
			if len(b) != z.Bytes(int(n)) {
				continue
			}
			got := make([]float32, n)
			z.Decode(got, b)
			if !z.Sound(b, int(n)) {
				continue
			}
			for _, c := range got {
				if !(math.Abs(float64(c)) <= 65504*4) {
					t.Fatalf("%s: %x reads as %v", name, b, got)
				}
			}
			if z.Sound(z.Scale(nil, b, 0.3), int(n)) != true {
				t.Fatalf("%s: %x is scaled to %x", name, b, z.Scale(nil, b, 0.3))
			}
		}
	})
}

func ExampleQuantizer() {
	b := Int4.Append(nil, []float32{1, -2, 0.5})
	c := make([]float32, 3)
	Int4.Decode(c, b)
	fmt.Printf("%x %v\n", b, c)
	// Output: 4b3db201 [1.033783 -1.8608093 0.6202698]
}

// Scalars with equal absolute values have equal absolute values after encoding and decoding,
// whatever their signs.
func TestSignsAreTreatedAlike(t *testing.T) {
	for name, z := range map[string]Quantizer{"int4": Int4, "int2": Int2} {
		for i := range 100 {
			s := float32(1 + float64(i)/101)
			block, got := []float32{s, -s, s}, make([]float32, 3)
			z.Decode(got, z.Append(nil, block))
			if got[0] != -got[1] || got[0] != got[2] {
				t.Errorf("%s: %v became %v", name, block, got)
			}
		}
	}
}
