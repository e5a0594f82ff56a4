package data

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"
)

// The digits must be the same bytes on every machine.
func TestDigitsGolden(t *testing.T) {
	im := Digits(1000, 1)
	h := sha256.New()
	h.Write(im.Labels)
	h.Write(im.Pixels)
	const want = "b2bee08b8146438fc4483ab25691d1779f527727386a0c204c885d8aff8a490b"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("hash of 1000 digits with seed 1: got %s, want %s", got, want)
	}
}

func TestDigitsPrefix(t *testing.T) {
	long, short := Digits(300, 7), Digits(100, 7)
	if !bytes.Equal(short.Labels, long.Labels[:100]) ||
		!bytes.Equal(short.Pixels, long.Pixels[:len(short.Pixels)]) {
		t.Error("100 digits are not the first of 300 with the same seed")
	}
	if other := Digits(100, 8); bytes.Equal(other.Pixels, short.Pixels) {
		t.Error("another seed gives the same digits")
	}
}

// Digits resemble MNIST in these ways: each label is about equally frequent, every image has ink,
// the ink stays away from the border, and the background is dark.
func TestDigitsLookLikeDigits(t *testing.T) {
	im := Digits(5000, 3)
	if im.Rows != 28 || im.Cols != 28 || im.Classes != 10 || im.Len() != 5000 {
		t.Fatalf("got %d images of %dx%d in %d classes", im.Len(), im.Rows, im.Cols, im.Classes)
	}
	var count [10]int
	for i := range im.Len() {
		count[im.Labels[i]]++
		if ink, edge := brightness(im.At(i)); ink < 15 || ink > 300 || edge > 14 {
			t.Errorf("image %d, a %d: ink of %.0f pixels, %.1f of it on the edge",
				i, im.Labels[i], ink, edge)
		}
	}
	for d, n := range count {
		if n < 400 || n > 600 { // 500 +- 21 expected
			t.Errorf("%d of 5000 are a %d", n, d)
		}
	}
	mean, std := im.Moments()
	if mean < 0.10 || mean > 0.16 || std < 0.24 || std > 0.34 {
		t.Errorf("pixels have mean %.3f and deviation %.3f, MNIST %v and %v",
			mean, std, MNISTMean, MNISTStd)
	}
}

// brightness sums the pixels of an image, ink as 1, and those on its border.
func brightness(pixels []uint8) (all, edge float64) {
	for i, p := range pixels {
		v := float64(p) / 255
		all += v
		if x, y := i%digitSize, i/digitSize; x == 0 || y == 0 || x == digitSize-1 ||
			y == digitSize-1 {
			edge += v
		}
	}
	return all, edge
}

func TestRelabel(t *testing.T) {
	im := Digits(200, 5)
	binary := im.Relabel([]uint8{0, 0, 0, 0, 0, 1, 1, 1, 1, 1})
	if binary.Classes != 2 {
		t.Errorf("got %d classes, want 2", binary.Classes)
	}
	for i, l := range im.Labels {
		if want := l / 5; binary.Labels[i] != want {
			t.Errorf("image %d, a %d: got class %d, want %d", i, l, binary.Labels[i], want)
		}
	}
	if halves := im.Halves(); halves.Classes != 2 || !slices.Equal(halves.Labels, binary.Labels) {
		t.Error("Halves is not 0 to 4 against 5 to 9")
	}
}

func TestMoments(t *testing.T) {
	im := &Images{Rows: 1, Cols: 4, Classes: 1, Pixels: []uint8{0, 0, 255, 255}, Labels: []uint8{0}}
	if mean, std := im.Moments(); mean != 0.5 || std != 0.5 {
		t.Errorf("got mean %v and deviation %v, want 0.5 and 0.5", mean, std)
	}
}

func BenchmarkDigits(b *testing.B) {
	n := 0
	for b.Loop() {
		n += Digits(1000, uint64(n)).Len()
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "images/s")
}
