package preset_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
)

// TestChoose: the rule of docs/choose.md, at its limits.
func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		known preset.Known
		want  string
	}{
		{preset.Known{}, "zofl"},
		{preset.Known{Dim: 1}, "cma"},
		{preset.Known{Dim: 6, Evaluations: 300}, "cma"},
		{preset.Known{Dim: 6, Noise: true, Unlike: true}, "cma"},
		{preset.Known{Dim: 100}, "cma"},
		{preset.Known{Dim: 101}, "zofl"},
		{preset.Known{Dim: 101, Noise: true}, "zofl"},
		{preset.Known{Dim: 6, Cohort: true}, "zofl"},
		{preset.Known{Dim: 6, Minibatch: true}, "zofl"},
		{preset.Known{Dim: 6, Liars: true}, "zofl"},
		{preset.Known{Dim: 6, Private: true}, "zofl"},
		{preset.Known{Dim: 6, Boxes: true}, "cma"},
		{preset.Known{Dim: 300, Boxes: true}, "fzoos"},
		{preset.Known{Dim: 999_999}, "zofl"},
		{preset.Known{Dim: 1_000_000}, "zofl-shared"},
		{preset.Known{Dim: 1_000_000, Liars: true}, "zofl"},
	} {
		got := preset.Choose(tt.known)
		if got.Preset != tt.want || got.Why == "" || strings.HasSuffix(got.Why, ".") {
			t.Errorf("%+v: %+v, want %s", tt.known, got, tt.want)
		}
		if !slices.Contains(preset.Names(), got.Preset) {
			t.Errorf("%+v: there is no preset %s", tt.known, got.Preset)
		}
	}
}

// TestKnownOf: what an author's fields say, and only those that the author has set.
func TestKnownOf(t *testing.T) {
	for _, tt := range []struct {
		edit func(*plan.Plan)
		set  string
		want preset.Known
	}{
		{func(*plan.Plan) {}, "", preset.Known{}},
		{func(p *plan.Plan) { p.Batch = 32 }, "batch", preset.Known{Minibatch: true}},
		{func(p *plan.Plan) { p.Batch = 0 }, "batch", preset.Known{}},
		{func(p *plan.Plan) { p.Members = 20 }, "members", preset.Known{}},
		{func(p *plan.Plan) { p.Members, p.Target = 20, 19 }, "members target",
			preset.Known{Cohort: true}},
		{func(p *plan.Plan) { p.Members, p.Target, p.OverSample = 20, 10, 2 },
			"members target over_sample", preset.Known{}},
		{func(p *plan.Plan) { p.Roster = plan.OpenRoster }, "roster", preset.Known{Cohort: true}},
		{func(p *plan.Plan) { p.DPClip = 10 }, "dp_clip", preset.Known{Private: true}},
		{func(p *plan.Plan) { p.Boxes = []plan.Box{{High: 1}} }, "boxes", preset.Known{Boxes: true}},
	} {
		p, err := preset.Unbound(preset.Default, "known", 7)
		if err != nil {
			t.Fatal(err)
		}
		tt.edit(p)
		tt.want.Dim = 7
		if got := preset.KnownOf(p, strings.Fields(tt.set)...); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.set, got, tt.want)
		}
	}
}

// TestSuitRounds: with every preset the rounds take as many of the evaluations as they can, and no
// more. Too few are refused with a number that suffices.
func TestSuitRounds(t *testing.T) {
	for _, name := range preset.Names() {
		make := func() *plan.Plan {
			p, err := preset.Unbound(name, "suit", 7)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		p := make()
		if err := preset.Suit(p, preset.Known{Evaluations: 20_000}); err != nil {
			t.Fatal(err)
		}
		spent, more := cost.Queries(p, p.Rounds), cost.Queries(p, p.Rounds+1)
		if p.Rounds == 0 || spent > 20_000 || more <= 20_000 {
			t.Errorf("%s: %d rounds take %d evaluations, one more %d", name, p.Rounds, spent, more)
		}
		within := make()
		if err := preset.Suit(within, preset.Known{Evaluations: 1 << 40, Seconds: 2000,
			LossSeconds: 0.1}); err != nil || within.Rounds != p.Rounds {
			t.Errorf("%s: %d rounds within 2,000 s, want %d; %v", name, within.Rounds, p.Rounds, err)
		}
		err := preset.Suit(make(), preset.Known{Evaluations: 1})
		fault, _ := err.(*plan.Error)
		if fault == nil || fault.Field != "evaluations" {
			t.Errorf("%s: one evaluation: %v", name, err)
		}
	}
}

// TestSuitLeast: the number of evaluations that the error names suffices, and one less does not.
func TestSuitLeast(t *testing.T) {
	for _, name := range preset.Names() {
		try := func(evaluations uint64) error {
			p, err := preset.Unbound(name, "least", 7)
			if err != nil {
				t.Fatal(err)
			}
			return preset.Suit(p, preset.Known{Evaluations: evaluations})
		}
		_, after, _ := strings.Cut(fmt.Sprint(try(1)), "moves after ")
		var least uint64
		if _, err := fmt.Sscan(after, &least); err != nil {
			t.Fatalf("%s: %v in %v", name, err, try(1))
		}
		if enough, less := try(least), try(least-1); enough != nil || less == nil {
			t.Errorf("%s: %d evaluations: %v, one less: %v", name, least, enough, less)
		}
	}
}

// TestSuitDeadline: a round's losses fit half of the deadline, unless the author has set it.
func TestSuitDeadline(t *testing.T) {
	for _, tt := range []struct {
		seconds float64
		set     []string
		want    uint32
	}{
		{0.001, nil, 30_000}, {1, nil, 38_000}, {60, nil, 19 * 2 * 60_000},
		{60, []string{"deadline"}, 30_000},
	} {
		p, err := preset.Unbound("zofl", "deadline", 500)
		if err != nil {
			t.Fatal(err)
		}
		err = preset.Suit(p, preset.Known{LossSeconds: tt.seconds}, tt.set...)
		if err != nil || p.Deadline != tt.want || p.Rounds != 0 {
			t.Errorf("%g s: deadline %d, want %d; %v", tt.seconds, p.Deadline, tt.want, err)
		}
	}
	p, _ := preset.Unbound("zofl", "deadline", 500)
	if err := preset.Suit(p, preset.Known{LossSeconds: 1e6}); err == nil || p.Deadline != 30_000 {
		t.Errorf("a loss of 11 days: deadline %d, %v", p.Deadline, err)
	}
}

// TestSuitDeadlineOfCandidates: a budget fixes the candidates, and the deadline is for these.
func TestSuitDeadlineOfCandidates(t *testing.T) {
	p, err := preset.Unbound("cma", "deadline", 30)
	if err != nil {
		t.Fatal(err)
	}
	err = preset.Suit(p, preset.Known{Noise: true, Seconds: 3600, LossSeconds: 2})
	if err != nil || p.Deadline != 2*56*2000 {
		t.Errorf("56 losses of 2 s: deadline %d; %v", p.Deadline, err)
	}
}

// TestSuitUnlike: unlike devices form groups where they fill them, and the plan runs.
func TestSuitUnlike(t *testing.T) {
	for _, tt := range []struct {
		members uint32
		set     []string
		want    uint32
	}{
		{10, nil, 5}, {100, nil, 5}, {5, nil, 0}, {12, nil, 0}, {200, nil, 12}, // drawn, by Fit
		{10, []string{"sharing"}, 0},
	} {
		p, err := preset.Unbound("zofl", "unlike", 500)
		if err != nil {
			t.Fatal(err)
		}
		p.Members, p.Target = tt.members, tt.members
		preset.Few(p, "members", "target")
		err = preset.Suit(p, preset.Known{Unlike: true}, tt.set...)
		preset.Fit(p, tt.set...)
		if bad := valid.Plan(p); err != nil || bad != nil || p.GroupSize != tt.want {
			t.Errorf("%d members: groups of %d, want %d; %v, %v", tt.members, p.GroupSize, tt.want, err,
				bad)
		}
	}
}

// TestSuitCandidates: with a budget the preset cma keeps its candidates, four times as many where
// the loss has noise and the preset would raise them, unless the author says otherwise.
func TestSuitCandidates(t *testing.T) {
	for _, tt := range []struct {
		dim   uint64
		known preset.Known
		set   string
		want  uint32
		auto  uint8
	}{
		{6, preset.Known{Evaluations: 900}, "", 9, 0},
		{6, preset.Known{Evaluations: 900, Noise: true}, "", 9, 0},
		{20, preset.Known{Evaluations: 900}, "", 12, 0},
		{20, preset.Known{Evaluations: 900, Noise: true}, "", 48, 0},
		{20, preset.Known{Evaluations: 900, Noise: true}, "perturbations", 12, 0},
		{20, preset.Known{Evaluations: 900, Noise: true}, "perturbations_auto", 12, 1},
		{20, preset.Known{Noise: true}, "", 12, 1},
	} {
		p, err := preset.Unbound("cma", "candidates", tt.dim)
		if err != nil {
			t.Fatal(err)
		}
		err = preset.Suit(p, tt.known, strings.Fields(tt.set)...)
		if err != nil || p.Perturbations != tt.want || p.PerturbationsAuto != tt.auto {
			t.Errorf("%+v: %d candidates, auto %d, want %d and %d; %v", tt, p.Perturbations,
				p.PerturbationsAuto, tt.want, tt.auto, err)
		}
	}
}

// TestSuitAll: a round of the preset cma asks all members, unless the author says otherwise.
func TestSuitAll(t *testing.T) {
	for set, want := range map[string]uint32{"members": 200, "members target": 10} {
		p, err := preset.Unbound("cma", "all", 6)
		if err != nil {
			t.Fatal(err)
		}
		p.Members = 200
		if err := preset.Suit(p, preset.Known{}, strings.Fields(set)...); err != nil ||
			p.Target != want {
			t.Errorf("%s set: target %d, want %d; %v", set, p.Target, want, err)
		}
	}
}
