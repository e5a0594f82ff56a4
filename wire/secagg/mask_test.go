package secagg_test

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/wire/secagg"
)

// words reads a masked vector.
func words(b []byte) (w []uint32) {
	for ; len(b) > 0; b = b[4:] {
		w = append(w, binary.LittleEndian.Uint32(b))
	}
	return w
}

// A device sends its vector plus a mask, and the mask does not depend on the vector.
func TestMaskIsIndependent(t *testing.T) {
	masks := [2][]uint32{}
	for i := range masks {
		f := at(t, 4, secagg.StepMask)
		for w := range f.values[4] {
			f.values[4][w] = uint32(i * (w + 1) * 0x01234567)
		}
		b, err := f.answer(4)
		if err != nil {
			t.Fatal(err)
		}
		masks[i] = words(b)
		for w, v := range f.values[4] {
			masks[i][w] -= v
		}
	}
	if !slices.Equal(masks[0], masks[1]) {
		t.Errorf("masks %x and %x of one device differ", masks[0], masks[1])
	}
}

// Masked zeros look like random bytes: by the chi-square of the 256 values, by the count of ones at
// each bit, and by the correlation with the bytes of neighboring devices.
func TestMasksLookRandom(t *testing.T) {
	const n = 1 << 16
	f := newFleet(t, roundOf(3, n), 9)
	for _, v := range f.values {
		clear(v)
	}
	if err := errors.Join(f.step(nil), f.step(nil)); err != nil {
		t.Fatal(err)
	}
	var vectors [][]uint32
	for _, slot := range f.round.Members {
		b, err := f.answer(slot)
		if err != nil {
			t.Fatal(err)
		}
		var counts [256]float64
		for _, v := range b {
			counts[v]++
		}
		chi, want := 0.0, float64(len(b))/256
		for _, count := range counts {
			chi += (count - want) * (count - want) / want
		}
		if math.Abs(chi-255) > 6*math.Sqrt(2*255) {
			t.Errorf("slot %d: chi-square %v of 255 degrees of freedom", slot, chi)
		}
		vectors = append(vectors, words(b))
	}
	for i, a := range vectors {
		for _, b := range vectors[i+1:] {
			for bit := range 32 {
				same := 0.0
				for w := range a {
					same += float64((a[w] ^ b[w]) >> bit & 1)
				}
				if math.Abs(same-n/2) > 6*math.Sqrt(n/4) {
					t.Errorf("bit %d of two devices differs %v times of %d", bit, same, n)
				}
			}
		}
	}
}
