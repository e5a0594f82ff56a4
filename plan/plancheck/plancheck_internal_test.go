package plancheck

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
)

// TestNoReasonIsStale: for every reason of this package, package valid has a rule with that
// refusal.
func TestNoReasonIsStale(t *testing.T) {
	words := valid.Words()
	for _, r := range slices.Concat(reasons, byHand) {
		if f, ok := plan.FieldNamed(r.field); ok && r.what == f.Doc+": choose "+f.Range() {
			continue // what package plan says of a field beyond its limits
		}
		if !slices.ContainsFunc(words, func(w valid.Wording) bool {
			return w.Field == r.field && w.What == r.what
		}) {
			t.Errorf("%s: %q: package valid refuses nothing with these words", r.field, r.what)
		}
	}
}

// TestExplain: the error for a plan that cannot run says why, and what to do. explain does not
// change other errors.
func TestExplain(t *testing.T) {
	if other := errors.New("other"); explain(other, nil, nil) != other {
		t.Error("another error is changed")
	}
	for _, test := range []struct{ settings, want string }{
		{"trust=50", "trust = 50: it needs bound above 0: a device that was trusted could " +
			"ruin the model with one large contribution; set bound=8, or leave out trust"},
		{"bound=0.5", "bound = 0.5: it is below the median: half of all honest contributions would be " +
			"cut; set bound=8"},
		{"members=0", "members = 0: devices that round 1 waits for: choose 1..16777216"},
		{"beta=2", "beta = 2: momentum factor: choose 0..1"},
		{"key_scheme=hkdf", "key_scheme = hkdf: leave it out: the run key is no secret; make the plan " +
			"with --secret FILE, which sets it"},
		{"initial=given", "initial_digest = : give the 32-byte digest of the parameters; " +
			"replica.InitialDigest computes it; begin with --initial FILE, which writes it"},
	} {
		p, err := preset.Unbound("decomfl", "kitchen", 100)
		if err != nil {
			t.Fatal(err)
		}
		name, value, _ := strings.Cut(test.settings, "=")
		if err := planfile.Set(p, name, value); err != nil {
			t.Fatal(err)
		}
		if err := Validate(p); err == nil || err.Error() != "plan: "+test.want {
			t.Errorf("got  %v\nwant plan: %s", err, test.want)
		}
	}
}

// TestValidateChange: the remedies for a change that a run cannot make set only fields that can
// change.
func TestValidateChange(t *testing.T) {
	p, err := preset.New("decomfl", "kitchen", 100)
	if err != nil {
		t.Fatal(err)
	}
	for setting, want := range map[string]string{
		"quorum=20": "plan: quorum = 20: a round closes at its target of 10: choose at most that; " +
			"set target=20 members=20",
		"async=on": "plan: async = on: it needs late above 0: with late=0 only contributions to the " +
			"open record count; set late=4",
		"prox=1": "plan: prox = 1: it needs steps above 1: the only step starts at the point that " +
			"prox pulls to, so there is no pull; set prox=0",
	} {
		var c plan.Change
		name, value, _ := strings.Cut(setting, "=")
		if err := planfile.SetChange(&c, name, value); err != nil {
			t.Fatal(err)
		}
		q := *p
		c.Apply(&q)
		if err := ValidateChange(&q, &c); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
