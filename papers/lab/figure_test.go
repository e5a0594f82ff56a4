package lab

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFigure(t *testing.T) {
	falling := Series{Name: "falling", X: []float64{1, 2, 3}, Y: []float64{.9, math.NaN(), .3}}
	ranges := Series{Name: "ranges", X: []float64{1, 3}, Y: []float64{.5, .6},
		Low: []float64{.4, .5}, High: []float64{.7, .8}}
	figure := Figure{Title: "made up", X: "round", Y: "accuracy", Series: []Series{falling, ranges}}
	for name, head := range map[string]string{"a.png": "\x89PNG", "a.SVG": "<?xml"} {
		file := filepath.Join(t.TempDir(), name)
		if err := figure.WriteFile(file); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(file); err != nil || !bytes.HasPrefix(b, []byte(head)) || len(b) < 1000 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	if err := figure.WriteFile(filepath.Join(t.TempDir(), "a.doc")); err == nil ||
		!strings.Contains(err.Error(), ".png") {
		t.Errorf("a.doc: %v", err)
	}
	draw := func(f *Figure, name string) []byte {
		file := filepath.Join(t.TempDir(), name)
		if err := f.WriteFile(file); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	// The first of an image is its page.
	light, dark := draw(&figure, "c.svg"), draw(&figure, "c-dark-2.svg")
	if !bytes.Contains(light, []byte("#FFFFFF")) || bytes.Contains(dark, []byte("#FFFFFF")) {
		t.Error("a figure for dark pages is white, or one for light pages is not")
	}
	low := Figure{Series: []Series{{Name: "x", X: []float64{0, 1, 2}, Y: []float64{-7, 1, 2}}}}
	high := low
	high.Floor = 0.5
	if !bytes.Contains(draw(&low, "d.svg"), []byte(">-6<")) ||
		bytes.Contains(draw(&high, "e.svg"), []byte(">-6<")) {
		t.Error("a figure has what is below its floor, or never has it")
	}
	infinite := Figure{LogX: true, LogY: true,
		Series: []Series{{Name: "x", X: []float64{0, 1}, Y: []float64{1, math.Inf(1)}}}}
	if err := infinite.WriteFile(filepath.Join(t.TempDir(), "b.svg")); err != nil {
		t.Errorf("nothing to show: %v", err)
	}
}
