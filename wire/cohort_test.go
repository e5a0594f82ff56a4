package wire_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// cohortOf returns the slots that an attempt asks.
func cohortOf(c wire.Cohort, n uint64, attempt uint32) []bool {
	in := make([]bool, c.Members)
	for slot := range in {
		in[slot] = c.Has("run", n, attempt, uint32(slot), "")
	}
	return in
}

func count(in []bool) (n int) {
	for _, v := range in {
		if v {
			n++
		}
	}
	return n
}

func TestCohortHasExactlySampled(t *testing.T) {
	for _, members := range []uint32{1, 2, 3, 4, 5, 31, 32, 33, 1000} {
		for _, sampled := range []uint64{0, 1, 2, uint64(members) / 2, uint64(members),
			uint64(members) + 7} {
			got, want := count(cohortOf(wire.Cohort{Sampled: sampled, Members: members}, 17, 0)),
				min(int(sampled), int(members))
			if got != want {
				t.Errorf("%d of %d: got %d", sampled, members, got)
			}
		}
	}
	if (wire.Cohort{Sampled: 5, Members: 5}).Has("run", 1, 0, 5, "") {
		t.Error("slot 5 of 5 members is asked, slots end at 4")
	}
}

func TestCohortsDiffer(t *testing.T) {
	c := wire.Cohort{Sampled: 50, Members: 100}
	base := fmt.Sprint(cohortOf(c, 17, 0))
	if other := fmt.Sprint(cohortOf(c, 17, 1)); other == base {
		t.Error("two attempts ask the same devices")
	}
	if other := fmt.Sprint(cohortOf(c, 18, 0)); other == base {
		t.Error("two records ask the same devices")
	}
	in := make([]bool, c.Members)
	for slot := range in {
		in[slot] = c.Evaluates("run", 17, 50, uint32(slot), "")
	}
	if fmt.Sprint(in) == base || count(in) != 50 {
		t.Errorf("evaluations: %d devices, want 50 others than contribute", count(in))
	}
}

// TestCohortsAreFair counts how often cohorts have each slot, and each pair of neighboring slots,
// over many records. The keys are fixed, so the test is deterministic. The bound is five standard
// deviations of a chi-square.
func TestCohortsAreFair(t *testing.T) {
	const draws = 2000
	for _, c := range []wire.Cohort{{Sampled: 1, Members: 2}, {Sampled: 1, Members: 3},
		{Sampled: 2, Members: 5}, {Sampled: 3, Members: 10}, {Sampled: 12, Members: 33}} {
		m := float64(c.Members)
		p := float64(c.Sampled) / m
		times, pairs := make([]float64, c.Members), 0.0
		for n := range uint64(draws) {
			in := cohortOf(c, n+2, 0)
			for slot, v := range in {
				if v {
					times[slot]++
				}
				if v && in[(slot+1)%len(in)] {
					pairs++
				}
			}
		}
		// A cohort is a draw without replacement, so the counts have a fixed sum: (m-1)/m of the sum of
		// squares is chi-square with m-1 degrees of freedom.
		square := 0.0
		for _, got := range times {
			square += (got - draws*p) * (got - draws*p) / (draws * p * (1 - p)) * (m - 1) / m
		}
		if most := m - 1 + 5*math.Sqrt(2*(m-1)); square > most {
			t.Errorf("%+v: chi-square %.1f over %v, want at most %.1f", c, square, times, most)
		}
		if c.Members < 4 {
			continue
		}
		want := draws * m * p * float64(c.Sampled-1) / (m - 1)
		if math.Abs(pairs-want) > 0.1*want {
			t.Errorf("%+v: neighbors are asked together %v times, want about %.0f", c, pairs, want)
		}
	}
}

func TestOpenRosterRate(t *testing.T) {
	const devices = 20000
	for _, rate := range []float64{0, 0.01, 0.5, 1} {
		c := wire.Cohort{Sampled: uint64(rate * wire.FullThreshold)}
		got := 0.0
		for i := range devices {
			if c.Has("run", 5, 0, 0, fmt.Sprint("device-", i)) {
				got++
			}
		}
		if want := rate * devices; math.Abs(got-want) > 5*math.Sqrt(devices*rate*(1-rate)) {
			t.Errorf("rate %v: %v of %d devices are in, want about %v", rate, got, devices, want)
		}
	}
}

func TestEvalShare(t *testing.T) {
	p := plan.Plan{
		RoundsFields:     plan.RoundsFields{Target: 10, OverSample: 1.2},
		EvaluationFields: plan.EvaluationFields{EvalCount: 3},
	}
	tests := []struct {
		cohort wire.Cohort
		want   uint64
	}{
		{wire.Cohort{Sampled: 12, Members: 100}, 3},
		{wire.Cohort{Sampled: 1200}, 300}, // 12 are asked at 1200, so 3 at a quarter of it
		{wire.Cohort{Sampled: wire.FullThreshold}, wire.FullThreshold / 4},
		{wire.Cohort{}, 0},
	}
	for _, test := range tests {
		if got := test.cohort.EvalShare(&p); got != test.want {
			t.Errorf("%+v: got %d, want %d", test.cohort, got, test.want)
		}
	}
	p.EvalCount = 100
	if got := (wire.Cohort{Sampled: wire.FullThreshold}).EvalShare(&p); got != wire.FullThreshold {
		t.Errorf("more than everybody: got %d", got)
	}
}

func TestSampled(t *testing.T) {
	tests := []struct {
		target     uint32
		overSample float32
		members    uint32
		want       uint32
	}{
		{10, 1, 100, 10},
		{10, 1.2, 100, 12}, // float32(1.2) is a little more than 1.2
		{1_000_000, 1.2, plan.MaxMembers, 1_200_000},
		{10, 1.25, 100, 13},
		{3, 1.1, 100, 4},
		{10, 1.5, 12, 12},
		{10, 0, 100, 10},
		{plan.MaxMembers, 100, plan.MaxMembers, plan.MaxMembers},
	}
	for _, test := range tests {
		p := plan.Plan{RoundsFields: plan.RoundsFields{Target: test.target, OverSample: test.overSample}}
		if got := p.Sampled(test.members); got != test.want {
			t.Errorf("target %d, over_sample %v, members %d: got %d, want %d", test.target,
				test.overSample, test.members, got, test.want)
		}
	}
}

// TestSlots: Slots returns exactly the slots for which Has is true, each slot once.
func TestSlots(t *testing.T) {
	for _, members := range []uint32{1, 2, 3, 7, 64, 65, 1000} {
		for _, sampled := range []uint64{0, 1, 2, uint64(members) / 2, uint64(members),
			uint64(members) + 5} {
			c := wire.Cohort{Sampled: sampled, Members: members}
			in := map[uint32]bool{}
			for slot := range c.Slots("r", 9, 2) {
				if in[slot] || !c.Has("r", 9, 2, slot, "") {
					t.Fatalf("%+v: slot %d is asked twice, or not at all", c, slot)
				}
				in[slot] = true
			}
			if want := min(sampled, uint64(members)); uint64(len(in)) != want {
				t.Errorf("%+v asks %d slots, want %d", c, len(in), want)
			}
		}
	}
}
