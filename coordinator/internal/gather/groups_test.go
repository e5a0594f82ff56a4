package gather

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// TestGroupTerms compares terms with float64 means, whatever the order in which devices answer.
func TestGroupTerms(t *testing.T) {
	const size, devices, groups = 5, 20, 3
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([][]float32, devices)
	for i := range values {
		for range size {
			values[i] = append(values[i], float32(rng.NormFloat64()))
		}
	}
	of := func(slot uint32) (uint32, bool) { // group 1 has nobody, and slots of 18 on no group
		return slot % 2 * 2, slot < 18
	}
	var want []wire.Term
	for trial := range 20 {
		var k Contributions
		k.Reset(size)
		for _, slot := range rng.Perm(devices) {
			k.Add(uint32(slot), values[slot], 1+uint32(slot%3))
		}
		terms := GroupTerms(k.ByGroup(of, groups), Aggregator{}, plan.Single)
		if want == nil {
			want = terms
		}
		if len(terms) != 2 || terms[0].Source != prng.Slot(0) || terms[1].Source != prng.Slot(2) {
			t.Fatalf("terms %v, want those of groups 0 and 2", terms)
		}
		for i := range terms {
			if !slices.Equal(terms[i].Scalars, want[i].Scalars) {
				t.Errorf("trial %d: another order gives other bits", trial)
			}
		}
	}
	for i, term := range want {
		for p := range size {
			sum, weight := 0.0, 0.0
			for slot := 2 * i / 2; slot < 18; slot += 2 {
				w := float64(1 + slot%3)
				sum, weight = sum+w*float64(values[slot][p]), weight+w
			}
			if got := float64(term.Scalars.At(p)); math.Abs(got-sum/weight) > 1e-7 {
				t.Errorf("term %d, scalar %d is %v, want %v", i, p, got, sum/weight)
			}
		}
	}
}

func TestGroupTermsOfHalves(t *testing.T) {
	var k Contributions
	k.Reset(1)
	k.Add(0, []float32{1}, 1)
	k.Add(1, []float32{1 + 1.0/1024}, 1)
	of := func(uint32) (uint32, bool) { return 0, true }
	terms := GroupTerms(k.ByGroup(of, 1), Aggregator{}, plan.Half)
	if got := plan.Half.Values(terms[0].Scalars, 1, 1); len(got) != 1 || got[0] != 1 {
		t.Errorf("the mean is %v, want 1: rounded once, to even", got)
	}
	if terms := GroupTerms(k.ByGroup(of, 0), Aggregator{}, plan.Half); len(terms) != 0 {
		t.Errorf("no groups have terms %v", terms)
	}
}

// TestGroupWeights: a term's weight is the sum of its contributors' weights, whatever factors a
// mean gives them, and no weight is larger than a record can hold.
func TestGroupWeights(t *testing.T) {
	for _, test := range []struct{ weights, want []uint32 }{ // device i is of group i mod 3
		{nil, nil},
		{[]uint32{7}, []uint32{7}},
		{[]uint32{1, 2, 3, 4, 5}, []uint32{5, 7, 3}},
		{[]uint32{0, 2}, []uint32{2}}, // nobody of group 0
		{[]uint32{plan.MaxWeight, 3}, []uint32{plan.MaxWeight, 3}},
		{[]uint32{plan.MaxWeight, 3, 1, 1}, []uint32{plan.MaxWeight/2 + 1, 2, 1}},
		{[]uint32{plan.MaxWeight, 1, 20, plan.MaxWeight, 0, 0, plan.MaxWeight},
			[]uint32{3 * plan.MaxWeight / 4, 1, 5}},
	} {
		var k Contributions
		k.Reset(1)
		for i, w := range test.weights {
			if w > 0 {
				k.Add(uint32(i), []float32{1}, w)
			}
		}
		groups := k.ByGroup(func(slot uint32) (uint32, bool) { return slot % 3, true }, 3)
		if got := GroupWeights(groups); !slices.Equal(got, test.want) {
			t.Errorf("%v: got %v, want %v", test.weights, got, test.want)
		}
	}
}

// TestWeigh: Weigh applies each factor to the contributor of its slot, in any order of answers.
func TestWeigh(t *testing.T) {
	var k Contributions
	k.Reset(1)
	k.Add(9, []float32{1}, 2)
	k.Add(4, []float32{-1}, 3)
	one := k.ByGroup(func(uint32) (uint32, bool) { return 0, true }, 1)
	one[0].Weigh(func(slots, claimed []uint32) []uint32 {
		if !slices.Equal(slots, []uint32{4, 9}) || !slices.Equal(claimed, []uint32{3, 2}) {
			t.Errorf("slots %v claim %v", slots, claimed)
		}
		return []uint32{1, 3}
	})
	if got := GroupTerms(one, Aggregator{}, plan.Single)[0].Scalars.At(0); got != 0.5 {
		t.Errorf("the mean is %v, want 0.5", got)
	}
}
