package plancheck_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
)

// byFlags are wishes that no setting fulfills, and the flag that fulfills them.
var byFlags = map[string]string{
	"initial=given":       "--initial FILE",
	"key_scheme=hkdf":     "--secret FILE",
	"secure_lists=agreed": "--secret FILE",

	"distribution=lowrank": "give its rows to each matrix",
}

// wishes returns each choice of each field, and a usual value of every other field that has one.
func wishes() (list []string) {
	for _, f := range plan.Fields() {
		for _, c := range f.Choices() {
			if c != "" {
				list = append(list, f.Name+"="+c)
			}
		}
		if f.Usual != "" {
			list = append(list, f.Name+"="+f.Usual)
		}
	}
	return list
}

// wished returns the plan of a preset with settings.
func wished(t *testing.T, name string, settings ...string) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound(name, "kitchen", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range settings {
		field, value, _ := strings.Cut(s, "=")
		if err := planfile.Set(p, field, value); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// TestWishes: each preset with each single wish runs, or runs after the first remedy of its
// refusal, taken literally. No remedy sets the field of the wish. The other remedies of the refusal
// work too.
func TestWishes(t *testing.T) {
	if testing.Short() { // the race detector has TestWishesTogether
		t.Skip("2,000 searches")
	}
	total := 0
	for _, name := range preset.Names() {
		for _, w := range wishes() {
			total++
			follow(t, name, w)
		}
	}
	if total < 2000 {
		t.Errorf("%d wishes", total)
	}
}

// TestWishesTogether is TestWishes for wishes of several settings.
func TestWishesTogether(t *testing.T) {
	for _, test := range []struct{ preset, settings, says string }{
		{"zofl", "pool=64 rebase=64 server_rule=mean", "server_beta1=0"}, // and not 0.9
		{"zofl", "secure=sum dp_clip=10", ""},
		{"fzoos", "secure=sum max_scalar=1000", "preset fzoos cannot: begin with"},
		{"fzoos", "aggregator=clipped-mean clip=1", "preset fzoos cannot: begin with"},
		{"fzoos", "async=on late=4", "preset fzoos cannot: begin with"},
		{"fedzo-dense", "async=on", "dense_keep=0"},
		{"zofl", "prox=1", "preset zofl cannot: begin with"},
		{"decomfl", "target=2000 sharing=per-client transport=relay", "set "},
		{"decomfl", "quorum=20", "target=20 members=20"},
		{"zofl", "stop_metric=loss", `metrics=["loss"] eval_every=10 eval_count=1`},
		{"zofl", "best=f1", `metrics=["f1"] eval_every=10 eval_count=1`},
		{"zofl", "patience=5", `best=loss`},
		{"decomfl", "secure=sum weights=equal quorum=2 members=2 target=2", "set "},
		{"decomfl", "rule=adam aggregator=median", "set "},
	} {
		follow(t, test.preset, strings.Fields(test.settings)...)
		err := plancheck.Validate(wished(t, test.preset, strings.Fields(test.settings)...))
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s %s: %v does not say %q", test.preset, test.settings, err, test.says)
		}
	}
}

// follow applies the remedy of a refused plan and checks that the plan then runs.
func follow(t *testing.T, name string, settings ...string) {
	t.Helper()
	err := plancheck.Validate(wished(t, name, settings...))
	var fault *plan.Error
	if err == nil || !errors.As(err, &fault) {
		return
	}
	if flag, ok := byFlags[settings[0]]; ok && strings.Contains(fault.Remedy, flag) {
		return
	}
	remedy, left, leave := strings.Cut(fault.Remedy[strings.LastIndex(fault.Remedy, "; ")+2:],
		", or leave out ")
	for _, plan := range remedied(t, remedy, name, settings) {
		if err := valid.Plan(plan); err != nil {
			t.Errorf("%s %q: %q does not help: %v", name, settings, remedy, err)
		}
	}
	if less := slices.DeleteFunc(slices.Clone(settings), func(s string) bool {
		return strings.HasPrefix(s, left+"=")
	}); leave && (len(less) == len(settings) || valid.Plan(wished(t, name, less...)) != nil) {
		t.Errorf("%s %q: it does not run without %q", name, settings, left)
	}
}

// remedied returns the plans that a remedy names: with more settings, or of other presets.
func remedied(t *testing.T, remedy, name string, settings []string) (plans []*plan.Plan) {
	t.Helper()
	names := []string{name}
	set, ok := strings.CutPrefix(remedy, "set ")
	if !ok {
		_, list, found := strings.Cut(remedy, "preset "+name+" cannot: begin with ")
		if list, set, _ = strings.Cut(list, " and set "); !found {
			t.Errorf("%s %q: no remedy, but %q", name, settings, remedy)
		}
		names = strings.Split(list, " or ")
	}
	more := strings.Fields(set)
	for _, s := range more {
		field, _, _ := strings.Cut(s, "=")
		if len(settings) == 1 && slices.ContainsFunc(settings, func(w string) bool {
			return strings.HasPrefix(w, field+"=")
		}) {
			t.Errorf("%s %q: the remedy %q undoes the wish", name, settings, set)
		}
	}
	for _, name := range names {
		plans = append(plans, wished(t, name, slices.Concat(settings, more)...))
	}
	return plans
}
