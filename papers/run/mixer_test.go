package run

import (
	"slices"
	"testing"
)

// TestMix: a mix sees one contribution of each client in each round, always in the same order, and
// what it leaves of them moves the model.
func TestMix(t *testing.T) {
	ran := func(mix func(all [][]float32)) (*Result, [][]float32) {
		var seen [][]float32
		cfg := digits(t, 3)
		cfg.Plan.Target, cfg.Plan.Quorum = cfg.Plan.Members, cfg.Plan.Members
		cfg.Mix = func(all [][]float32) {
			if len(all) != len(cfg.Shares) {
				t.Errorf("%d contributions, want %d", len(all), len(cfg.Shares))
			}
			seen = append(seen, slices.Clone(all[0]))
			mix(all)
		}
		return mustTrain(t, cfg), seen
	}
	still, seen := ran(func(all [][]float32) {
		for _, v := range all {
			clear(v)
		}
	})
	if len(seen) != 3 || slices.Max(still.Params) != 0 || slices.Min(still.Params) != 0 {
		t.Errorf("%d rounds were mixed to nothing, and the model is %v", len(seen), still.Params)
	}
	a, first := ran(func([][]float32) {})
	b, second := ran(func([][]float32) {})
	if slices.Max(a.Params) == 0 || !slices.Equal(a.Params, b.Params) ||
		!slices.EqualFunc(first, second, slices.Equal) {
		t.Errorf("the same run twice: %v and %v, of contributions %v and %v", a.Params, b.Params, first,
			second)
	}
}
