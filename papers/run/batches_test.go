package run

import (
	"slices"
	"testing"

	"github.com/zofl/zofl/client/objective"
)

func TestWalk(t *testing.T) {
	share := []int{10, 11, 12, 13, 14}
	steps := []struct {
		n    uint64
		step int
		want []int
	}{
		{4, 0, []int{10, 11}},
		{4, 0, []int{10, 11}}, // another query of the step
		{4, 1, []int{12, 13}},
		{9, 0, []int{14}}, // the rest of the epoch
		{9, 0, []int{14}}, // the round is repeated
		{11, 0, []int{10, 11}},
	}
	p := Walk.picker(share, 0)
	for i, s := range steps {
		if got := p.pick(objective.Batch{N: s.n, Step: s.step, Size: 2,
			Seed: uint64(i)}); !slices.Equal(got, s.want) {
			t.Errorf("%d: record %d, step %d: %v, want %v", i, s.n, s.step, got, s.want)
		}
	}
	resumed := Walk.picker(share, 3) // after the records 4 and 9
	if got := resumed.pick(objective.Batch{N: 11, Size: 2}); !slices.Equal(got, []int{10, 11}) {
		t.Errorf("a resumed walk continues with %v", got)
	}
	for _, size := range []int{0, 5, 9} {
		if got := p.pick(objective.Batch{N: 12, Size: size}); !slices.Equal(got, share) {
			t.Errorf("size %d: %v, want all", size, got)
		}
	}
}

func TestDraws(t *testing.T) {
	p := Draws.picker([]int{1, 2, 3, 4, 5, 6, 7, 8}, 5)
	a := slices.Clone(p.pick(objective.Batch{N: 2, Size: 3, Seed: 1}))
	b := slices.Clone(p.pick(objective.Batch{N: 3, Size: 3, Seed: 2}))
	if again := p.pick(objective.Batch{N: 9, Size: 3, Seed: 1}); !slices.Equal(a, again) ||
		slices.Equal(a, b) {
		t.Errorf("seeds 1, 2, 1 gave %v, %v, %v", a, b, again)
	}
}
