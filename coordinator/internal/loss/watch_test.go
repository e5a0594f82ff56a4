package loss

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
)

func TestLossWatch(t *testing.T) {
	const huge = math.MaxFloat32
	for _, test := range []struct {
		name    string
		diverge float64
		losses  []float32
		want    int // the round that shows it; 0: none
	}{
		{"no rounds", 1, nil, 0},
		{"never", 0, []float32{1, 1, 1, 1, 1, 1e30, 1e30, 1e30}, 0},
		{"steady", 1, []float32{1, 1, 1, 1, 1, 1, 1}, 0},
		{"a spike", 1, []float32{1, 1, 1, 1, 1, 50, 1, 1}, 0},
		{"an early spike", 1, []float32{1, 500, 1, 1, 1, 1, 1, 1}, 0},
		{"two that are absurd", 1, []float32{1, 1, 1, 1, 1, huge, 1, huge, 1, 1}, 0},
		{"a blow-up", 1, []float32{2.3, 68, 217, 525}, 3},
		{"one that ends at once", 1, []float32{2.3, 68, 70, 71, 70, 70}, 5},
		{"one that waits", 1, []float32{2.3, 2.2, 2.1, 68, 217, 525}, 5},
		{"one that is slower", 1, []float32{1, 9, 90, 900}, 4},
		{"of a few first losses", 1, []float32{2, 4, 7, 7, 8, 7, 8, 7, 8, 8}, 0},
		{"growth", 1, []float32{1, 1, 1, 1, 1, 9, 9, 9}, 8},
		{"from near 0", 1, []float32{0.001, -0.4, 0.3, 0.5, -0.2, 0.4, 0.5, 0.3, 0.4, 0.5, 0.4},
			0},
		{"from 0", 1, []float32{0, 0.1, -0.1, 0.1, 0, 5, 5, 5}, 8},
		{"from 0 at once", 1, []float32{0, 1, 10, 20}, 0},
		{"as much as was gained", 1, slices.Concat(repeat(0.1, 5), repeat(-9, 40), repeat(9, 40)),
			0},
		{"more than was gained", 1, slices.Concat(repeat(0.1, 5), repeat(-9, 40), repeat(11, 40)),
			58},
		{"negative losses", 0.5, slices.Concat(repeat(-4, 5), repeat(2, 9)), 9},
	} {
		var w Watch
		got := 0
		for i, loss := range test.losses {
			if w.Observe(test.diverge, uint64(i+1), []float32{loss}) && got == 0 {
				got = i + 1
			}
		}
		if got != test.want {
			t.Errorf("%s: diverged in round %d, want %d", test.name, got, test.want)
		}
	}
}

// TestLossWatchOfCandidates: where a report is the least loss of some candidates, one of the first
// round may be low by luck.
func TestLossWatchOfCandidates(t *testing.T) {
	for _, c := range []struct {
		losses []float32
		luck   float64 // of round 1
		want   int     // the round that shows divergence; 0: none
	}{
		{[]float32{0.0045, 0.115, 0.13}, 0, 3},
		{[]float32{0.0045, 0.115, 0.13, 0.1, 0.08, 0.02}, 0.2, 0},
		{[]float32{0.00086, 0.0059, 0.0013, 0.0047, 0.0036, 0.0018}, 0, 6},
		{[]float32{0.00086, 0.0059, 0.0013, 0.0047, 0.0036, 0.0018}, 0.05, 0},
		{[]float32{0.0045, 50, 60}, 0.2, 3},
	} {
		var w Watch
		got := 0
		for i, loss := range c.losses {
			w.Lucky(c.luck * float64(i+1)) // later rounds do not count
			if w.Observe(1, uint64(i+1), slices.Repeat([]float32{loss}, 10)) && got == 0 {
				got = i + 1
			}
		}
		if got != c.want {
			t.Errorf("%v, luck %v: diverged in round %d, want %d", c.losses, c.luck, got, c.want)
		}
	}
}

// TestLossWatchOfSoftmax has the losses of three devices that trained a softmax classifier of
// handwritten digits, with steps 50, 100 and 300 times too long, and with a good step.
func TestLossWatchOfSoftmax(t *testing.T) {
	for _, test := range []struct {
		losses []float32
		within int // rounds; 0: never
	}{
		{[]float32{2.3026, 11.76, 19.05, 22.09, 28.05, 31.24, 31.92}, 3},
		{[]float32{2.3026, 6.61, 8.87, 9.8, 9.07, 10.79, 10.6, 9.7, 10.5}, 6},
		{[]float32{2.3026, 2.95, 3.16, 5.07, 6.38, 6.12, 6.09, 4.96, 4.95, 5, 5, 5, 5, 5}, 12},
		{[]float32{2.3026, 2.28, 2.25, 2.27, 2.2, 2.1, 2.2, 2.1, 2, 1.9, 2}, 0},
	} {
		var w Watch
		round := 0
		for i, loss := range test.losses {
			noise := 0.05 * float32(min(i, 1)) // all begin at ln 10
			if w.Observe(1, 1, []float32{loss - noise, loss, loss + 2*noise}) && round == 0 {
				round = i + 1
			}
		}
		if (round > 0) != (test.within > 0) || round > test.within {
			t.Errorf("%v: diverged in round %d, want within %d", test.losses, round, test.within)
		}
	}
}

func repeat(loss float32, n int) []float32 { return slices.Repeat([]float32{loss}, n) }

// TestLossWatchOfNoise has objectives that begin near 0 and stay there.
func TestLossWatchOfNoise(t *testing.T) {
	for _, devices := range []int{1, 3, 10} {
		ended := 0
		for seed := range uint64(200) {
			rng := rand.New(rand.NewPCG(seed, 1))
			var w Watch
			for range 1000 {
				reports := make([]float32, devices)
				for i := range reports {
					reports[i] = float32(rng.NormFloat64())
				}
				if w.Observe(1, 1, reports) {
					ended++
					break
				}
			}
		}
		// In 20,000 such runs of 200 rounds, the watch reported divergence in at most 0.4%, for any
		// number of devices.
		if ended > 1 || devices == 1 && ended > 0 {
			t.Errorf("%d of 200 runs of %d devices diverged, want none", ended, devices)
		}
	}
}

// TestLossWatchOfLiars has one device, of three or more, report arbitrary losses.
func TestLossWatchOfLiars(t *testing.T) {
	courses := map[string][]float32{
		"falls":   {2.3, 2.2, 2.2, 2.1, 2.1, 2, 2, 1.9, 1.9, 1.8, 1.8, 1.7},
		"blow-up": {2.3, 68, 217, 525, 900, 1500, 3000, 9000},
		"drift":   {2.3, 2.3, 2.3, 2.3, 2.3, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9},
	}
	for _, devices := range []int{3, 4, 20} {
		for name, course := range courses {
			for _, lie := range []float32{0, 2.3, 1e30, -1e30, math.MaxFloat32, -math.MaxFloat32} {
				var w Watch
				round := 0
				for i, loss := range course {
					reports := []float32{lie}
					for k := 1; k < devices; k++ {
						reports = append(reports, loss*(1+float32(k)/100))
					}
					if w.Observe(1, 1, reports) {
						round = i + 1
						break
					}
				}
				if (round > 0) != (name != "falls") || name == "blow-up" && round != 3 {
					t.Errorf("%s, one of %d devices reports %v: diverged in round %d", name,
						devices, lie, round)
				}
			}
		}
	}
}

// TestLossWatchMidway: after a restart the losses of one or two devices may be near 0 and far
// apart, and the watch reports only losses that keep growing.
func TestLossWatchMidway(t *testing.T) {
	grow := func(by float32) (losses []float32) {
		for loss := float32(0.001); loss < 1e6; loss *= by {
			losses = append(losses, loss)
		}
		return losses
	}
	for _, test := range []struct {
		name   string
		losses []float32
		within int // rounds; 0: never
	}{
		{"another device contributes", slices.Concat([]float32{4e-5, 0.01}, repeat(0.03, 30)), 0},
		{"it does later", slices.Concat(repeat(4e-5, 6), repeat(0.03, 30)), 0},
		{"they take turns", slices.Repeat([]float32{4e-5, 0.03, 2e-4}, 20), 0},
		{"they join one by one", slices.Concat(repeat(4e-5, 9), repeat(0.003, 9), repeat(0.05, 9),
			repeat(3, 30)), 0},
		{"a blow-up", grow(4), 9},
		{"growth", grow(1.5), 40},
		{"growth after a while", slices.Concat(repeat(0.001, 30), grow(2)), 55},
	} {
		w, got := Watch{Midway: true}, 0
		for i, loss := range test.losses {
			if w.Observe(1, uint64(i+1), []float32{loss}) {
				got = i + 1
				break
			}
		}
		if (got > 0) != (test.within > 0) || got > test.within {
			t.Errorf("%s: diverged in round %d, want within %d", test.name, got, test.within)
		}
	}
	votes, n := Watch{Midway: true}, 0
	for loss := float32(1); !votes.Observe(1, 1, []float32{loss, loss, loss, loss}) && n < 9; n++ {
		loss *= 6
	}
	if n != 2 {
		t.Errorf("a blow-up that four devices report showed after %d rounds, want after 2", n)
	}
}

// whole is a log that has the vectors of all records, or only of records from a number on.
type whole uint64

func (w whole) Lacks(n uint64) uint64 {
	if n < uint64(w) {
		return n
	}
	return 0
}

func (w *Watch) story() string {
	return w.Diverged(&plan.Plan{
		LocalFields: plan.LocalFields{StepSize: 1},
	}, whole(0), Blame{})
}

// TestWayBack: wayBack returns the best state, or the first later state whose vector the log has.
func TestWayBack(t *testing.T) {
	var w Watch
	for i, loss := range []float32{9, 8, 7, 6, 5, 4, 3, 2.5, 1, 2, 3, 500, 500, 500} {
		w.Observe(1, uint64(2*i+1), []float32{loss})
	}
	p := &plan.Plan{LocalFields: plan.LocalFields{StepSize: 1}}
	for log, want := range map[whole]string{
		0: "diverged: the median loss is 500 and began at 9, 2.5 at best: `zofl rollback 15`, " +
			"`zofl change step=0.1`, `zofl resume`",
		20: "`zofl rollback 20`",
		99: "`zofl rollback 15`",
	} {
		if got := w.Diverged(p, log, Blame{}); !strings.Contains(got, want) {
			t.Errorf("vectors from record %d: %q, want %q", log, got, want)
		}
	}
	w.failures, w.infinite = hopeless, 1
	if got := w.Diverged(p, whole(0), Blame{}); strings.Contains(got, "losses first") {
		t.Errorf("a loss of 500 that was 9: %q blames the devices", got)
	}
	for i := range 9 {
		w.Observe(1, uint64(30+i), []float32{1})
	}
	if got := w.Diverged(p, whole(0), Blame{}); !strings.Contains(got, "the devices' losses first") ||
		!strings.Contains(got, "`zofl rollback") {
		t.Errorf("a loss of 1 that was 9: %q does not name the devices, then the way back", got)
	}
	p.ServerRule, p.ServerStep = plan.ServerAdam, 1
	got := w.Diverged(p, whole(0), Blame{})
	if !strings.Contains(got, "`zofl change server_step=0.1`") {
		t.Errorf("adam: %q, want its step", got)
	}
}

// TestNoWayBackFromRest: before devices have found a step the model has not moved, so there is no
// move to take back, and no step to shorten.
func TestNoWayBackFromRest(t *testing.T) {
	var w Watch
	w.Observe(1, 3, []float32{2.3})
	w.failures, w.infinite = hopeless, 3
	plan := &plan.Plan{LocalFields: plan.LocalFields{StepAuto: 1}}
	got := w.Diverged(plan, whole(0), Blame{})
	if !strings.Contains(got, "(3)") || !strings.Contains(got, "look at the devices' losses first") ||
		strings.Contains(got, "rollback") || strings.Contains(got, "change") {
		t.Errorf("before a step is found: %q", got)
	}
	plan.StepSize = 1
	if got := w.Diverged(plan, whole(0), Blame{}); !strings.Contains(got, "`zofl change step=0.1`") {
		t.Errorf("with a step: %q", got)
	}
}

// After an operator resumed the run or rolled it back, the rounds that diverged do not count again.
func TestLossWatchAgain(t *testing.T) {
	observe := func(w *Watch, from uint64, losses ...float32) (diverged bool) {
		for i, loss := range losses {
			diverged = w.Observe(1, from+uint64(i), []float32{loss, loss, loss})
		}
		return diverged
	}
	start := func() (w Watch) {
		if !observe(&w, 1, 2.3, 68, 217) || w.best.n != 1 {
			t.Fatalf("a blow-up: best %d, %s", w.best.n, w.story())
		}
		w.Again()
		return w
	}
	w := start()
	if observe(&w, 4, 525, 400, 600, 500, 400, 300, 200) {
		t.Error("resumed as it was: diverged again at once")
	}
	if w.best.n != 1 || !strings.Contains(w.story(), "2.3 at best") {
		t.Errorf("best %d, %s: want the state before the blow-up", w.best.n, w.story())
	}
	if w = start(); observe(&w, 5, 2.3, 2.2, 2.1, 2, 1.9, 1.8, 1.7) || w.best.n == 1 {
		t.Errorf("rolled back: diverged, or best is still %d", w.best.n)
	}
	if w = start(); !observe(&w, 5, 2.3, 68, 217) {
		t.Error("rolled back with the same step: went on")
	}
	if w = start(); !observe(&w, 5, 1, 1, 1, 60, 60) {
		t.Error("rolled back, later a blow-up: went on")
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		losses []float32
		want   float32
	}{{[]float32{3}, 3}, {[]float32{9, 1}, 1}, {[]float32{9, 1, 5}, 5},
		{[]float32{4, 3, 2, 1}, 2}} {
		if got := Median(slices.Clone(test.losses)); got != test.want {
			t.Errorf("median of %v is %v, want %v", test.losses, got, test.want)
		}
	}
}
