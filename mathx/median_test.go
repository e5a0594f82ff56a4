package mathx

import (
	"encoding/binary"
	"math"
	"math/big"
	"testing"
)

func TestMedianOf(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	for _, c := range []struct {
		values []float32
		want   float32
	}{
		{[]float32{7}, 7},
		{[]float32{7, -9, 8}, 7},
		{[]float32{4, 1, 3, 2}, 2.5},
		{[]float32{5, 5, 5, 1}, 5},
		{[]float32{math.MaxFloat32, math.MaxFloat32}, math.MaxFloat32},
		{[]float32{math.MaxFloat32, -math.MaxFloat32}, 0},
		{[]float32{negative}, 0},
		{[]float32{negative, negative}, 0},
		{[]float32{1, negative, -1}, 0},
		{[]float32{0, negative, negative}, 0},
		{[]float32{-math.SmallestNonzeroFloat32, 0}, 0},
		{[]float32{3 * math.SmallestNonzeroFloat32, 0}, 2 * math.SmallestNonzeroFloat32},
	} {
		values := append([]float32(nil), c.values...)
		if got := MedianOf(values); math.Float32bits(got) != math.Float32bits(c.want) {
			t.Errorf("MedianOf(%v) is %v, want %v", c.values, got, c.want)
		}
	}
	wantPanic(t, noValues, func() { MedianOf(nil) })
}

// ranked returns the values with at most i values below them and at most len-1-i above:
// one value, unless several are equal. It sorts nothing.
func ranked(values []float32, i int) float32 {
	for _, v := range values {
		below, above := 0, 0
		for _, w := range values {
			if w < v {
				below++
			} else if w > v {
				above++
			}
		}
		if below <= i && above <= len(values)-1-i {
			return v
		}
	}
	panic("no such value")
}

// The median does not depend on the order. It is between the two values in the middle,
// and differs from their mean only by rounding.
func FuzzMedianOf(f *testing.F) {
	g := lcg(17)
	for n := range 8 {
		f.Add(bytesOf(g.vector(n, 120)))
		f.Add(bytesOf(g.vector(n, 0)))
		f.Add(bytesOf(g.vector(n, 232)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var values, reversed []float32
		for ; len(b) >= 4 && len(values) < 100; b = b[4:] {
			v := math.Float32frombits(binary.LittleEndian.Uint32(b))
			if v-v == 0 {
				values = append(values, v)
				reversed = append([]float32{v}, reversed...)
			}
		}
		n := len(values)
		if n == 0 {
			return
		}
		low, high := ranked(values, (n-1)/2), ranked(values, n/2)
		mean := new(big.Float).SetPrec(400).Add(big.NewFloat(float64(low)),
			big.NewFloat(float64(high)))
		mean.Quo(mean, big.NewFloat(2))
		got := MedianOf(values)
		if math.Float32bits(got) != math.Float32bits(MedianOf(reversed)) {
			t.Fatalf("median of %v depends on their order", values)
		}
		nearest, _ := mean.Float32()
		if got != nearest && got != math.Nextafter32(nearest, got) {
			t.Fatalf("median of %v is %v, want %v", values, got, nearest)
		}
		if n%2 == 1 && got != low || got < low || got > high ||
			got == 0 && math.Signbit(float64(got)) {
			t.Fatalf("median of %v is %v, want one of [%v,%v], no -0", values, got, low, high)
		}
	})
}
