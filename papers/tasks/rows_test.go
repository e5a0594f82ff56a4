package tasks

import (
	"slices"
	"testing"

	"github.com/zofl/zofl/papers/tables"
)

func TestScales(t *testing.T) {
	rows := func(values ...float32) *tables.Table {
		return &tables.Table{Features: 2, Classes: 1, Values: values,
			Labels: make([]uint8, len(values)/2)}
	}
	for scale, want := range map[Scale][]float32{
		Unit: {0, .5, 1, .5}, Sixteen: {0, 8, 16, 8}, Standardized: {-1, 0, 1, 0},
	} {
		train, test := rows(0, .5, 1, .5), rows(.5, .75)
		before := test.Values
		scale.apply(train, test)
		if !slices.Equal(train.Values, want) || before[0] != .5 {
			t.Errorf("%s: %v, want %v", scale, train.Values, want)
		}
		// By the training rows: a constant feature is only shifted.
		if scale == Standardized && !slices.Equal(test.Values, []float32{0, .25}) {
			t.Errorf("%s: the test row is %v", scale, test.Values)
		}
	}
}
