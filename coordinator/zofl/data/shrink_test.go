package data

import (
	"slices"
	"testing"
)

func TestShrink(t *testing.T) {
	im := &Images{Rows: 3, Cols: 5, Classes: 2, Labels: []uint8{1, 0}, Pixels: []uint8{
		0, 4, 8, 8, 9,
		4, 8, 8, 9, 9,
		9, 9, 9, 9, 9,

		255, 255, 0, 0, 9,
		255, 255, 0, 1, 9,
		9, 9, 9, 9, 9,
	}}
	got := im.Shrink(2)
	if got.Rows != 1 || got.Cols != 2 || got.Classes != 2 || !slices.Equal(got.Labels, im.Labels) ||
		!slices.Equal(got.Pixels, []uint8{4, 8, 255, 0}) {
		t.Errorf("got %+v", got)
	}
	if im.Shrink(1) != im {
		t.Error("images of the same size are others")
	}
}
