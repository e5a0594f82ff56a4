package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
)

// A shown is the output of `zofl history --json`.
type shown struct {
	Points []history.Point
	Marks  []history.Mark
}

func (s *shown) kinds() (list []history.Kind) {
	for _, m := range s.Marks {
		if m.Kind != history.Surveyed { // the plan's own business
			list = append(list, m.Kind)
		}
	}
	return list
}

func historyOf(t *testing.T, args ...string) *shown {
	t.Helper()
	text, err := zofl(t, append([]string{"history", "--json"}, args...)...)
	if err != nil {
		t.Fatalf("history %v: %v", args, err)
	}
	s := &shown{}
	decode(t, text, s)
	for i := range s.Points {
		if i > 0 && s.Points[i].N <= s.Points[i-1].N {
			t.Errorf("a point of record %d after one of %d", s.Points[i].N, s.Points[i-1].N)
		}
	}
	return s
}

// TestHistory: the history that a coordinator sends equals the history stored beside its log, and
// the next coordinator continues it.
func TestHistory(t *testing.T) {
	k := newKitchenOf(t, []string{"--preset", "zofl"}) // cma changes the plan by itself
	k.device("a")
	k.device("b")
	k.reach(10)
	for _, command := range [][]string{{"pause", "--reason", "lunch"}, {"change", "step=0.25"},
		{"resume"}} {
		if _, err := k.ask(command...); err != nil {
			t.Fatal(err)
		}
	}
	k.reach(20)
	if _, err := k.ask("pause"); err != nil {
		t.Fatal(err)
	}
	live := historyOf(t, "--url", k.url, "--run", "kitchen")
	want := []history.Kind{history.Began, history.Paused, history.Changed, history.Resumed,
		history.Paused}
	if !slices.Equal(live.kinds(), want) {
		t.Errorf("marks %+v, want %v", live.Marks, want)
	}
	if got := uint64(len(live.Points)); got != live.Points[got-1].Round { // nothing went back
		t.Errorf("%d points of %d rounds", got, live.Points[got-1].Round)
	}
	for _, p := range live.Points {
		if p.Loss == nil || p.Contributors == 0 || p.Asked != 2 || p.BytesUp == 0 || p.Queries == 0 ||
			p.Time.IsZero() {
			t.Errorf("point %+v", p)
		}
	}
	text, err := zofl(t, "history", "--csv", "--store", k.log) // while the coordinator has it open
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 1+len(live.Points) || rows[0][0] != "record" ||
		rows[1][0] != fmt.Sprint(live.Points[0].N) {
		t.Errorf("%d lines of %d points, %v:\n%s", len(rows), len(live.Points), err, text)
	}
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	text, err = zofl(t, "history", "--store", k.log, "--from", "2") // without it, the last 20
	if err != nil || !strings.Contains(text, "paused: lunch") || !strings.Contains(text, "2 of 2") {
		t.Errorf("the table is\n%s%v", text, err)
	}
	k.lead = background(t, "serve", "--store", k.log, "--listen", k.url[len("nats://"):])
	last := live.Points[len(live.Points)-1].N
	k.reach(last)
	if _, err := k.ask("resume"); err != nil { // the pause outlived its coordinator
		t.Fatal(err)
	}
	k.reach(last + 6)
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	rest := historyOf(t, "--store", k.log)
	if m := len(live.Points); len(rest.Points) < m+4 ||
		rest.Points[m-1].Queries != live.Points[m-1].Queries ||
		rest.Points[m].Queries <= rest.Points[m-1].Queries {
		t.Errorf("%d points, then %d", m, len(rest.Points))
	}
	want = append(want, history.Began, history.Paused, history.Resumed)
	if kinds := rest.kinds(); !slices.Equal(kinds, want) {
		t.Errorf("marks %v, want %v", kinds, want)
	}
	if late := historyOf(t, "--store", k.log, "--from", "15"); late.Points[0].N < 15 ||
		len(late.Points) < 10 {
		t.Errorf("from record 15 on: %+v", late)
	}
}

// TestHistoryIsSetAside: a run that begins anew has a history of its own.
func TestHistoryIsSetAside(t *testing.T) {
	k := newKitchen(t)
	k.device("a")
	k.device("b")
	k.reach(8)
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(k.log, "log")); err != nil {
		t.Fatal(err)
	}
	k.lead = background(t, "serve", k.plan, "--store", k.log, "--listen", k.url[len("nats://"):],
		"--begin-anew")
	k.reach(1)
	if _, err := k.ask("pause"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(k.log, history.FileName+".before-1")); err != nil {
		t.Error(err)
	}
}

// TestHistoryOfKilledCoordinators: coordinators killed at any moment leave a history with each
// reported round once. Only their last rounds may be missing.
func TestHistoryOfKilledCoordinators(t *testing.T) {
	dir, address := t.TempDir(), freeport.Address(t)
	plan, log := filepath.Join(dir, "plan.json"), filepath.Join(dir, "log")
	if _, err := zofl(t, "plan", "--preset", "zofl", "--run", "kitchen",
		"--dim", fmt.Sprint(kitchenDim), "--write", plan,
		"--set", "members=1", "--set", "target=1", "--set", "quorum=1", "--set",
		"reannounce=100"); err != nil {
		t.Fatal(err)
	}
	background(t, "client", "--url", "nats://"+address, "--run", "kitchen", "--id", "a", "--json",
		"--objective", "bowl", "--dim", fmt.Sprint(kitchenDim), "--store", filepath.Join(dir, "a"))
	stored, told := map[uint64]bool{}, map[uint64]bool{}
	for life := range 4 {
		serve := start(t, "serve", plan, "--store", log, "--listen", address, "--json")
		serve.says(&serve.out, `"event":"round"`)
		most := 1 + rand.IntN(60)
		if !serve.out.Until(func(text string) bool { return lines(text, `"event":"round"`) >= most }) {
			t.Fatalf("life %d: no %d rounds", life, most)
		}
		if err := serve.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-serve.done
		last, points := uint64(0), historyOf(t, "--store", log).Points
		for _, p := range points {
			stored[p.N], last = true, p.N
		}
		if len(points) != len(stored) {
			t.Errorf("life %d: %d points are left of %d", life, len(points), len(stored))
		}
		for line := range strings.Lines(serve.out.String()) {
			var e struct {
				Event string
				N     uint64
			}
			if json.Unmarshal([]byte(line), &e) == nil && e.Event == "round" && e.N <= last {
				told[e.N] = true
			}
		}
		for n := range told {
			if !stored[n] {
				t.Errorf("life %d: record %d is no point, up to record %d", life, n, last)
			}
		}
	}
	if len(stored) == 0 {
		t.Error("no life left a point")
	}
}

// TestStepAsShown: what history calls step is what `zofl change step=` sets, so setting the number
// that it shows leaves the run's steps as they were. What a round moves by has another name.
func TestStepAsShown(t *testing.T) {
	k := newKitchenOf(t, []string{"--preset", "zofl", "--set", "target=1"})
	k.device("a")
	k.device("b")
	k.reach(60)
	points := func() []history.Point {
		t.Helper()
		var past shown
		out, err := zofl(t, "history", "--url", k.url, "--run", "kitchen", "--json")
		if err == nil {
			err = json.Unmarshal([]byte(out), &past)
		}
		if err != nil || len(past.Points) == 0 {
			t.Fatalf("%v: %s", err, out)
		}
		return past.Points
	}
	all := points()
	before := all[len(all)-1]
	if _, err := zofl(t, "change", fmt.Sprintf("step=%g", before.Step), "--url", k.url, "--run",
		"kitchen"); err != nil {
		t.Fatal(err)
	}
	k.reach(before.N + 30)
	if !(before.Step > 0) || !(before.RoundStep < before.Step) {
		t.Errorf("step %v, of a round %v", before.Step, before.RoundStep)
	}
	last := before
	for _, p := range points() {
		if p.N <= before.N {
			continue
		}
		if p.Step != before.Step || !(math.Abs(float64(p.RoundStep/last.RoundStep)-1) < 0.3) {
			t.Fatalf("record %d: step %v, of a round %v; before %v and %v", p.N, p.Step, p.RoundStep,
				last.Step, last.RoundStep)
		}
		last = p
	}
}
