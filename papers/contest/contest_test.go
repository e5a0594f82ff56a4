package contest_test

import (
	"github.com/zofl/zofl/papers/contest/contesttest"

	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
)

func TestReached(t *testing.T) {
	whole := contesttest.Spent("rounds", .2, .4, .8)
	diverged := contesttest.Spent("diverged: far", .2, .4)
	for _, test := range []struct {
		curve  *run.Curve
		metric string
		of     contest.Cost
		budget uint64
		want   float64
	}{
		{whole, run.Accuracy, contest.QueriesOf, 20, .2},
		{whole, run.Accuracy, contest.QueriesOf, 40, .4},
		{whole, run.Accuracy, contest.QueriesOf, 50, .6},
		{whole, run.Accuracy, contest.BytesOf, 300, .3},
		{whole, run.TestLoss, contest.BytesOf, 500, .4},
		{whole, run.Accuracy, contest.QueriesOf, 5, .2},
		{whole, run.Accuracy, contest.QueriesOf, math.MaxUint64, .8},
		{diverged, run.Accuracy, contest.QueriesOf, 30, .3}, // before its end
		{diverged, run.Accuracy, contest.QueriesOf, 40, 0},
		{diverged, run.TestLoss, contest.QueriesOf, 60, math.Inf(1)},
		{&run.Curve{Ended: "paused: early"}, run.Accuracy, contest.QueriesOf, 1, 0},
	} {
		got := contest.Reached(test.curve, test.metric, test.of, test.budget)
		if got != test.want && !(math.Abs(got-test.want) < 1e-12) {
			t.Errorf("%s, %s within %d: %v, want %v",
				test.curve.Ended, test.metric, test.budget, got, test.want)
		}
	}
}

func TestBeats(t *testing.T) {
	long, short := contesttest.Entry("long", contesttest.Spent("rounds", .2, .4, .8)),
		contesttest.Entry("short", contesttest.Spent("rounds", .3, .5))
	gone := contesttest.Entry("gone", contesttest.Spent("diverged: far", .9))
	if at := contest.Budget(contest.QueriesOf, long, short, gone); at != 40 {
		t.Errorf("the budget is %d queries, want the shorter's 40", at)
	}
	r := &lab.Report{}
	contest.Beats(r, "short", short, long)
	contest.Beats(r, "gone", gone, long)
	var got []bool
	for _, c := range r.Claims {
		got = append(got, c.Holds)
	}
	if want := []bool{true, true, false, false}; !slices.Equal(got, want) {
		t.Errorf("claims hold: %v, want %v: %+v", got, want, r.Claims)
	}
	if text := r.Claims[2].Figures; !strings.Contains(text, "seed 1 diverged at round 2") {
		t.Errorf("%s: want it to say which run diverged", text)
	}
	all := []*contest.Entry{long, short, gone}
	if best := contest.BestBy(all, contest.QueriesOf, 40); best != short {
		t.Errorf("%s is best, want short", best.Name)
	}
}

func TestAffordable(t *testing.T) {
	for _, test := range []struct {
		set  []string
		want uint64
	}{
		{[]string{"difference=central", "perturbations=10"}, 10},
		{[]string{"difference=forward", "perturbations=19"}, 10},
		{[]string{"difference=forward", "perturbations=9",
			`perturbation_schedule=[{"round":11,"perturbations":19}]`}, 15},
		{[]string{"difference=forward", "perturbations=9", "steps=2", "control=scaffold-1"}, 5},
		{[]string{"difference=forward", "perturbations=9", "steps=2", "control=svrg"}, 6},
		{[]string{"estimator=surrogate", "active=5", "around=20", "steps=10"}, 2},
		{[]string{"difference=central", "perturbations=500"}, 1},
	} {
		p, err := run.Plan("decomfl", "afford", 1, 10, 10, 3)
		if err != nil {
			t.Fatal(err)
		}
		c := contest.Method{Set: test.set}
		c.Fields(p, 1)
		if got := contest.Affordable(p, 200); got != test.want {
			t.Errorf("%v: %d rounds, want %d", test.set, got, test.want)
		}
	}
}
