package digits

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/data"
)

// learned returns the parameters after some gradient steps on the test digits.
func learned(t *testing.T, m *Model) []float32 {
	t.Helper()
	x, batch := make([]float32, Dim), make([]int, 600)
	for i := range batch {
		batch[i] = i
	}
	for range 40 {
		g := make([]float32, Dim)
		m.test.Gradient(g, x, batch)
		for i := range x {
			x[i] -= 0.1 * g[i]
		}
	}
	return x
}

// TestModelReads checks that the model recognizes the digit in a drawing after Fit, for any place
// and size of the drawing.
func TestModelReads(t *testing.T) {
	if testing.Short() {
		t.Skip("training takes long with the race detector, and starts no goroutine")
	}
	m := New("a")
	x := learned(t, m)
	if right := m.Score(x, 500); right < 0.8 {
		t.Fatalf("%v of the digits are right: the model is too bad for this test", right)
	}
	im, right, n := data.Digits(100, 99), 0, 0
	for i := range im.Len() {
		for _, by := range []int{2, 9} {
			image, err := Fit(enlarged(im.At(i), by), 280)
			if err != nil {
				t.Fatal(err)
			}
			odds, err := m.Odds(x, image)
			if err != nil {
				t.Fatal(err)
			}
			if first, _ := best(odds); first == int(im.Labels[i]) {
				right++
			}
			n++
		}
	}
	if float64(right) < 0.7*float64(n) {
		t.Errorf("%d of %d drawings are read right", right, n)
	}
}

// enlarged draws an image on paper of 280 by 280, in its upper left corner.
func enlarged(image []uint8, by int) []uint8 {
	ink := make([]uint8, 280*280)
	for i, v := range image {
		if v < 100 {
			continue // noise
		}
		for j := range by * by {
			ink[(i/Side*by+j/by)*280+i%Side*by+j%by] = v
		}
	}
	return ink
}

// TestFit: ink ends in the middle and as high as built-in digits are.
func TestFit(t *testing.T) {
	ink := make([]uint8, 280*280)
	for y := 10; y < 110; y++ { // 40 wide, 100 high
		for x := 200; x < 240; x++ {
			ink[y*280+x] = 255
		}
	}
	image, err := Fit(ink, 280)
	if err != nil {
		t.Fatal(err)
	}
	b, ok := bounds(image, Side)
	if want := (box{10, 4, 18, 24}); !ok || b != want {
		t.Errorf("ink from 200,10 to 240,110 is at %v, want %v", b, want)
	}
	dot := make([]uint8, 280*280)
	dot[279*280+279] = 255
	if image, err = Fit(dot, 280); err != nil || slices.Max(image) < 200 {
		t.Errorf("a dot in the corner is lost: %v", err)
	}
	if _, err := Fit(make([]uint8, 280*280), 280); !errors.Is(err, ErrBlank) {
		t.Errorf("blank paper: %v", err)
	}
	if _, err := Fit(ink[1:], 280); err == nil {
		t.Error("a drawing that is no square is taken")
	}
}

// TestDrawingsCount checks that the loss contains a new drawing from the next round on, and not
// before, because all evaluations of a round must use the same samples.
func TestDrawingsCount(t *testing.T) {
	m, x := New("a"), make([]float32, Dim)
	for i := range x {
		x[i] = float32(math.Sin(float64(i)))
	}
	loss := func(n uint64) float64 {
		l, err := m.Loss(t.Context(), x, objective.Batch{N: n, Size: 0, Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	before := loss(1)
	image := data.Digits(1, 5).At(0)
	if err := m.Draw(image, 3); err != nil {
		t.Fatal(err)
	}
	if again := loss(1); again != before {
		t.Errorf("the loss of a round changes from %v to %v", before, again)
	}
	after := loss(2)
	odds, err := m.Odds(x, image)
	if err != nil {
		t.Fatal(err)
	}
	// The drawing stands for ten samples beside 300 others.
	want := (built*before - each*math.Log(odds[3])) / (built + each)
	if math.Abs(after-want) > 1e-5 {
		t.Errorf("with a drawing the loss is %v, want %v", after, want)
	}
	if m.Samples() != built+each || m.Drawn() != 1 {
		t.Errorf("%d samples, %d drawings", m.Samples(), m.Drawn())
	}
	for label, image := range map[int][]uint8{10: image, -1: image, 1: image[1:]} {
		if err := m.Draw(image, label); err == nil {
			t.Errorf("label %d with %d pixels is taken", label, len(image))
		}
	}
	for m.Draw(image, 1) == nil {
	}
	if m.Drawn() != most {
		t.Errorf("%d drawings are taken, want %d", m.Drawn(), most)
	}
}

// TestWords: what is said, for models of all kinds.
func TestWords(t *testing.T) {
	for want, odds := range map[string][Classes]float64{
		"That is a 7, I am quite sure (95 %).":       {1: 0.05, 7: 0.95},
		"That is a 0, I am quite sure (100 %).":      {0: 1},
		"I think it is a 9 (60 %), else a 4 (40 %).": {4: 0.4, 9: 0.6},
		"I cannot tell. A 2 (40 %), or a 3 (35 %)?":  {2: 0.4, 3: 0.35, 8: 0.25},
		"I cannot tell. A 0 (40 %), or a 8 (35 %)?":  {0: 0.4, 3: 0.25, 8: 0.35},
		"I have not learned anything yet.":           {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1},
	} {
		if got := Words(odds); got != want {
			t.Errorf("%v: %q, want %q", odds, got, want)
		}
	}
}
