package zoflmnist

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/contest/contesttest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
	"github.com/zofl/zofl/plan"
)

// TestGroups is the short form, too short for its claims.
func TestGroups(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	r := labtest.Run(t, Groups(), &lab.Env{Short: true, Generated: 600})
	if len(r.Claims) != 8 || len(r.Summary.Rows) != 10 {
		t.Fatalf("%d claims and %d rows, want 8 and 10: %+v", len(r.Claims), len(r.Summary.Rows),
			r.Claims)
	}
	labtest.Untold(t, r, 8)
	for i, title := range []string{"random groups", "groups by sketches"} {
		if c := r.Claims[i]; !strings.HasPrefix(c.Claim, title) || !strings.Contains(c.Figures, "IID") {
			t.Errorf("claim %d is %+v, want %s against own directions, with IID", i, c, title)
		}
	}
}

// TestGroupsClaims: claims compare the ends, though sketches leave fewer rounds.
func TestGroupsClaims(t *testing.T) {
	x := newGroupsTrial(lab.NewTrial(t.Context(), &lab.Env{}, "made"))
	own := contesttest.Entry("own", contesttest.Spent("rounds", .1, .2, .5))
	alike := contesttest.Entry("alike", contesttest.Spent("rounds", .9))
	x.judge(nil, []*contest.Entry{own,
		contesttest.Entry("less", contesttest.Spent("rounds", .6, .4, .4)),
		contesttest.Entry("more", contesttest.Spent("rounds", .1, .6))})
	x.judge(nil, []*contest.Entry{alike})
	if c := x.Report.Claims; len(c) != 2 || c[0].Holds || !c[1].Holds {
		t.Errorf("%+v: want the second alone to hold", c)
	}
}

// TestGroupsArms: each arm is a plan that can run, and the devices of each make equally many
// queries.
func TestGroupsArms(t *testing.T) {
	s, err := (&lab.Env{Generated: 200}).MNIST()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range groupLeagues(&lab.Env{}) {
		for _, c := range l.arms {
			one, p := planOf(t, s, &l, c)
			// All devices' queries: a sketch is 65 of each.
			all := one.Rounds * uint64(p.Sampled(p.Members)) * p.Queries(p.Perturbations)
			want := plan.Half
			switch c.Name {
			case "own":
				want = plan.Int4 // the recipe's
			case "bits":
				all, want = all+65*uint64(p.Members), plan.Int8
			case "classes":
				want = plan.Int8 // its sketches are no queries
			case "sketch":
				all += 65 * uint64(p.Members)
			case "v1":
				// A first phase counts twice, see affordable.
				all += one.Rounds * uint64(p.Sampled(p.Members)) *
					2 * p.PhaseQueries(1, p.Perturbations)
			}
			if all > 48_000 || all < 47_800 {
				t.Errorf("%v, %s: %d queries of all devices, want 48,000", &l, c.Name, all)
			}
			if p.Precision != want || one.Task.Dim != 7850 {
				t.Errorf("%v, %s: precision %v, %d parameters", &l, c.Name, p.Precision, one.Task.Dim)
			}
		}
	}
}
