package history

import (
	"bytes"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/report"
)

// noisy returns numbers with mean 0 and standard deviation 1. Every call returns the same numbers.
func noisy(i int) float64 {
	x := uint64(i)*0x9E3779B97F4A7C15 + 0x7F4A7C15
	x ^= x >> 31
	x *= 0xBF58476D1CE4E5B9
	x ^= x >> 29
	return (float64(x>>11)/(1<<53) - 0.5) * math.Sqrt(12)
}

func loss(n int, v float64) report.Event {
	e := round(uint64(n + 1))
	e.Loss = float32(v)
	return e
}

// TestEndedWorse: NoFall reports at the end of a run that a person ended that its loss is higher
// than at first.
func TestEndedWorse(t *testing.T) {
	var h History
	run := newRun(t)
	run.plan.Rounds = 100
	h.Lead(t.Context(), run, nil, nil)
	for i := range 5 {
		record(t, &h, loss(i+1, float64(i)))
	}
	if text := h.NoFall(); text != "" {
		t.Errorf("before its end: %q", text)
	}
	run.mu.Lock()
	run.status.State = report.Ended
	run.mu.Unlock()
	if text := h.NoFall(); !strings.Contains(text, "worse than it began: the loss was 0") {
		t.Errorf("at its end: %q", text)
	}
	record(t, &h, report.Event{Kind: report.RunEnded, N: 7, Round: 5})
	_, marks := h.Snapshot(0)
	if last := marks[len(marks)-1]; last.Kind != NoFall || !strings.Contains(last.Text, "worse") {
		t.Errorf("the last mark is %+v", last)
	}
}

// TestNoFall: after half of its rounds, a run whose loss has not fallen gets one mark. Runs that
// learn, even with noisy losses, runs of few rounds and runs without losses get no mark.
func TestNoFall(t *testing.T) {
	for name, tt := range map[string]struct {
		rounds, done int // of the plan, of the run
		loss         func(i int) float64
		want         bool
	}{
		"constant":          {200, 100, func(int) float64 { return 2.3 }, true},
		"lower by a breath": {200, 100, func(i int) float64 { return 2.3 - 1e-6*float64(i) }, true},
		"noise":             {200, 100, func(i int) float64 { return 2.3 + noisy(i) }, true},
		"rises":             {200, 200, func(i int) float64 { return -1 + 0.01*float64(i) }, true},
		"no fall for long":  {40000, 40000, func(int) float64 { return 2.3 }, true},
		"no end":            {0, 500, func(int) float64 { return 2.3 }, true},
		"learns":            {200, 200, func(i int) float64 { return 2.3 / (1 + 0.1*float64(i)) }, false},
		"learns in noise": {400, 400, func(i int) float64 {
			return 1 - 0.004*float64(i) + noisy(i)/2
		}, false},
		"learns at once": {9000, 9000, func(i int) float64 {
			return 1/float64(i) + 0.01*noisy(i)
		}, false},
		"learns for long": {40000, 40000, func(i int) float64 {
			return 1 / math.Sqrt(float64(i))
		}, false},
		"beside a constant": {200, 100, func(i int) float64 {
			return 1e6 + 2.3 - 0.05*float64(i)
		}, false},
		"too early":          {200, 99, func(int) float64 { return 2.3 }, false},
		"too early, no end":  {0, 499, func(int) float64 { return 2.3 }, false},
		"few rounds":         {39, 39, func(int) float64 { return 2.3 }, false},
		"few rounds, worse":  {39, 39, func(i int) float64 { return 2.3 + 0.01*float64(i) }, true},
		"two rounds, worse":  {2, 2, func(i int) float64 { return float64(i) }, true},
		"few, not at an end": {39, 38, func(i int) float64 { return float64(i) }, false},
		"few rounds, better": {39, 39, func(i int) float64 { return 2.3 - 0.01*float64(i) }, false},
		"no loss":            {200, 200, func(int) float64 { return 0 }, false},
		"losses not finite":  {200, 200, func(int) float64 { return math.NaN() }, false},
		"half of few rounds": {60, 30, func(int) float64 { return 2.3 }, false},
	} {
		var h History
		var log bytes.Buffer
		run := newRun(t)
		run.plan.Rounds = uint64(tt.rounds)
		h.Lead(t.Context(), run, nil, slog.New(slog.NewTextHandler(&log, nil)))
		for i := 1; i <= tt.done; i++ {
			record(t, &h, loss(i, tt.loss(i)))
		}
		_, marks := h.Snapshot(0)
		marked := 0
		for _, m := range marks {
			if m.Kind == NoFall {
				marked++
			}
		}
		says, logged := h.NoFall(), strings.Count(log.String(), "docs/faq.md")
		if (says != "") != tt.want || (marked == 1) != tt.want || marked != logged || marked > 1 {
			t.Errorf("%s: it says %q, and has %d marks, and logged %s", name, says, marked, &log)
		}
	}
}

// TestNoFallOnce: a run with a NoFall mark at half of its rounds gets no second mark at its end,
// nor from the next coordinator. The status says that the loss has not fallen for as long as that
// is true.
func TestNoFallOnce(t *testing.T) {
	var h History
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	run, dir := newRun(t), Dir(t.TempDir())
	run.plan.Rounds = 100
	stop := h.Lead(t.Context(), run, dir, logger)
	for i := 1; i <= 60; i++ {
		record(t, &h, loss(i, 2.3))
	}
	text := h.NoFall()
	if !strings.HasPrefix(text, "the loss has not fallen: it was 2.3 in the first 10 rounds, and is "+
		"2.3 in the last 10; docs/faq.md ") || !strings.Contains(text, "zofl tune --run kitchen ") {
		t.Errorf("half way it says %q", text)
	}
	stop()
	run.status.N = 61
	var next History
	defer next.Lead(t.Context(), run, dir, logger)()
	if next.NoFall() == "" {
		t.Error("the next coordinator does not say so")
	}
	for i := 61; i <= 100; i++ {
		record(t, &next, loss(i, 2.3))
	}
	if text = next.NoFall(); text == "" || strings.Contains(text, "zofl tune") {
		t.Errorf("at the end it says %q: there is no run to tune", text)
	}
	if told := strings.Count(log.String(), "docs/faq.md"); told != 1 {
		t.Errorf("it was told %d times:\n%s", told, &log)
	}
}

// TestNoFallKnows: NoFall ignores losses that a rollback undid, and returns "" once the loss has
// fallen. It also returns "" if the history lacks the first rounds.
func TestNoFallKnows(t *testing.T) {
	var h, late History
	run := newRun(t)
	run.plan.Rounds = 100
	h.Lead(t.Context(), run, nil, nil)
	late.Lead(t.Context(), run, nil, nil)
	for i := 1; i <= 50; i++ {
		record(t, &h, loss(i, 2.3))
	}
	if h.NoFall() == "" {
		t.Error("it does not say so half way")
	}
	for i := 51; i <= 80; i++ {
		record(t, &h, loss(i, 0.5))
	}
	if text := h.NoFall(); text != "" {
		t.Errorf("after a fall: %q", text)
	}
	for i := 51; i <= 70; i++ { // from round 50 again
		e := loss(i, 2.3)
		e.N += 31
		record(t, &h, e)
	}
	if h.NoFall() == "" {
		t.Error("it does not say so after the fall was rolled back")
	}
	for i := 60; i <= 100; i++ {
		record(t, &late, loss(i, 2.3))
	}
	if text := late.NoFall(); text != "" {
		t.Errorf("without its first rounds: %q", text)
	}
}

// TestNoFallSeldomWrong: NoFall reports hardly any run whose loss falls by one and a half times its
// noise, and most runs whose loss does not fall.
func TestNoFallSeldomWrong(t *testing.T) {
	told := func(fall float64) (count int) {
		for seed := range 200 {
			var path []Point
			for i := range 200 {
				v := 2.3 - fall*float64(i)/200 + noisy(seed*1000+i)
				path = append(path, Point{Round: uint64(i + 1), Loss: &v})
			}
			if _, _, stuck := compared(path); stuck {
				count++
			}
		}
		return count
	}
	if still, falls := told(0), told(1.5); still < 150 || falls > 2 {
		t.Errorf("%d of 200 that do not fall are told, and %d that do", still, falls)
	}
}
