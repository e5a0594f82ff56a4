package eavesdrop

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
	"github.com/zofl/zofl/papers/leak"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan/dp"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/wire"
)

// TestLeak runs the short form of the experiment. Within few rounds, single scalars must reveal
// labels; scalars with much noise, and the sum of scalars, must not.
func TestLeak(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	r := labtest.Run(t, Experiment(), &lab.Env{Short: true, Generated: 1200, Screen: true,
		Dir: t.TempDir()})
	want := []struct {
		seen      string
		low, high float64
	}{{"in the log", 0.8, 1}, {"by the coordinator", 0.8, 1}, {"the exact sum alone", -0.3, 0.4},
		{"by the coordinator", -0.5, 0.7}} // with noise, another each time: 0.15 in the mean of 7
	if len(r.Summary.Rows) != len(want) || len(r.Claims) != 3 {
		t.Fatalf("%d rows and %d claims: %v", len(r.Summary.Rows), len(r.Claims), r.Claims)
	}
	for i, row := range r.Summary.Rows {
		all, err := strconv.ParseFloat(row[3], 64)
		if err != nil || row[1] != want[i].seen || !(all >= want[i].low && all <= want[i].high) {
			t.Errorf("%v: want %q with a correlation of %v to %v", row, want[i].seen, want[i].low,
				want[i].high)
		}
	}
	for i, least := range map[int]float64{5: 0.8, 6: 0.7} { // whose data are alike, by labels, scalars
		cell := r.Summary.Rows[1][i]
		if v, err := strconv.ParseFloat(cell, 64); err != nil || v < least {
			t.Errorf("%s: %q, want %v", r.Summary.Columns[i], cell, least)
		}
	}
	for _, c := range r.Claims {
		// That of noise is judged by its row above, with room for chance where images are so few.
		if !c.Holds && !strings.HasPrefix(c.Claim, "noise by the devices") {
			t.Errorf("%s: %s", c.Claim, c.Figures)
		}
	}
}

// TestLeakArms checks that each arm's plan can run, and that an arm with noise spends nearly all
// of its privacy budget epsilon, and no more.
func TestLeakArms(t *testing.T) {
	x, err := newTrial(lab.NewTrial(t.Context(), &lab.Env{Generated: 100}, "leak"))
	if err != nil {
		t.Fatal(err)
	}
	task, _ := x.set.Task(false)
	for _, a := range x.arms {
		p, secret, err := x.plan(a, 1, task)
		if err == nil {
			err = plancheck.Validate(p)
		}
		if err != nil || (secret != nil) != a.secret || p.Private() != a.secret {
			t.Errorf("%s: %v, with a secret of %d bytes", a.name, err, len(secret))
			continue
		}
		if a.epsilon > 0 {
			spent := dp.Spent(p, p.Rounds+1).Epsilon
			if !(spent <= a.epsilon && spent > 0.98*a.epsilon) {
				t.Errorf("%s: spends %v", a.name, spent)
			}
		}
		if a.preset == "" && a.views[0].of == theLog && p.Transport.String() != "relay" {
			t.Errorf("%s: the log has no scalars of single devices", a.name)
		}
	}
}

// TestSlopes checks the scalars that the attacker computes for a device whose images all have one
// label: a device with the attacker's images of this label must send these scalars.
func TestSlopes(t *testing.T) {
	x, err := newTrial(lab.NewTrial(t.Context(), &lab.Env{Generated: 600, Rounds: 3}, "leak"))
	if err != nil {
		t.Fatal(err)
	}
	x.set.Train = x.set.Test // the devices have the attacker's images
	for _, name := range []string{"shared", "own", "groups"} {
		var one arm
		for _, a := range arms {
			if a.name == name {
				one = a
			}
		}
		one.settings += " batch=0 precision=single mu=1e-3 difference=central"
		if name == "groups" {
			one.settings += " group_size=5"
		}
		x.size = func(arm) int { return labelCount }
		task, _ := x.set.Task(false)
		p, _, err := x.plan(one, 1, task)
		if err != nil {
			t.Fatal(err)
		}
		spy := newSpy(p)
		book := newReader(spy, x.set)
		shares := book.images[:] // device c has label c
		r, err := run.Train(t.Context(), run.Config{Name: name, Seed: 1, Task: task, Plan: p,
			Shares: shares, Heard: spy.heard})
		if err != nil {
			t.Fatal(err)
		}
		var seen []leak.Observation
		if err := book.watch(t, r, &seen); err != nil {
			t.Fatal(err)
		}
		if len(seen) != 3*labelCount {
			t.Errorf("%s: %d observations", name, len(seen))
		}
		for _, o := range seen {
			for i, v := range o.Scalars {
				if want := o.Slopes[i][o.Devices[0]]; math.Abs(v-want) > 0.01*(1+math.Abs(want)) {
					t.Errorf("%s: device %d sent %v, want %v", name, o.Devices[0], v, want)
				}
			}
		}
	}
}

// TestSurveysAreNoSlopes: what devices answer to the surveys of a default run is not taken for
// slopes.
func TestSurveysAreNoSlopes(t *testing.T) {
	x, err := newTrial(lab.NewTrial(t.Context(), &lab.Env{Generated: 600, Rounds: 3}, "leak"))
	if err != nil {
		t.Fatal(err)
	}
	one := arm{name: "surveys", preset: "zofl-shared", devices: 4}
	task, _ := x.set.Task(false)
	p, _, err := x.plan(one, 1, task)
	if err != nil {
		t.Fatal(err)
	}
	shares, err := x.deal(one, 1)
	if err != nil {
		t.Fatal(err)
	}
	spy := newSpy(p)
	r, err := run.Train(t.Context(), run.Config{Name: one.name, Seed: 1, Task: task, Plan: p,
		Shares: shares, Heard: spy.heard, Differentiates: func(int) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	if heard := len(spy.sent); heard <= 3 {
		t.Fatalf("%d records, and no survey", heard)
	}
	if err := spy.keepRounds(t.Context(), r); err != nil || len(spy.sent) != 3 {
		t.Errorf("%d records, want 3 rounds: %v", len(spy.sent), err)
	}
}

// watch reads what each device sent.
func (r *reader) watch(t *testing.T, result *run.Result, seen *[]leak.Observation) error {
	return r.read(t.Context(), result, func(n uint64, round *wire.Round) {
		*seen = append(*seen, r.observed(eachDevice, n, round)...)
	})
}

// TestLeakCell: cells have the mean of the seeds, and none where nothing was attacked.
func TestLeakCell(t *testing.T) {
	scores := []score{{Accuracy: 0.5}, {Accuracy: 0.75}}
	if got := cell(scores, func(s *score) float64 { return s.Accuracy }); got != "0.625" {
		t.Errorf("%q", got)
	}
	if got := cell(scores, func(*score) float64 { return untold }); got != "" {
		t.Errorf("untold is %q", got)
	}
	if got := fmt.Sprint(fleets([][]float64{{1, 0}, {0, 1}})[0][:2]); got != "[0.5 0.5]" {
		t.Errorf("the fleet has %s", got)
	}
}
