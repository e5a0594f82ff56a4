package operate

import (
	"math"
	"testing"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire/survey"
)

// A run pauses after a round to come, and tells the losses of its rounds.
func TestPauseAfterAndRounds(t *testing.T) {
	l := newLab(t)
	l.serve()
	to := l.reach(4).Rounds + 30
	l.must(VerbPause, Request{After: to, Reason: "thirty more"})
	s := l.must(VerbStatus, Request{})
	for s.State != "paused" {
		s = l.must(VerbStatus, Request{})
	}
	if s.Rounds != to || s.Reason != "thirty more" {
		t.Errorf("after pause --after %d: %+v", to, s)
	}
	if s := l.must(VerbPause, Request{After: to - 1}); s.State != "paused" || s.Rounds != to {
		t.Errorf("a pause after a round of the past: %+v", s)
	}
	rounds, err := Rounds(t.Context(), l.nc, "kitchen", 5)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rounds {
		if r.N != uint64(6+i) || r.Round != r.N-1 || r.Loss == nil || r.Contributors != 1 ||
			!(r.Step > 0) || r.Perturbations == 0 {
			t.Errorf("round %d after record 5: %+v", i, r)
		}
	}
	if n := uint64(len(rounds)); n != s.N-5 {
		t.Errorf("%d rounds after record 5 of %d", n, s.N)
	}
}

// Rounds are told in pages, and the oldest are forgotten.
func TestRoundsOfLongRuns(t *testing.T) {
	var w Watch
	record := func(e report.Event) {
		t.Helper()
		if err := w.Record(e); err != nil {
			t.Fatal(err)
		}
	}
	record(report.Event{Kind: report.PhaseDone, N: 2, Loss: float32(math.Inf(1))})
	record(report.Event{Kind: report.RoundDone, N: 3, Round: 1, Loss: 7})
	record(report.Event{Kind: report.Surveyed, N: 3, Round: 1, Contributors: 5,
		Survey: survey.Result{Kind: "sketch"}})
	record(report.Event{Kind: report.Joined, N: 3})
	p := w.rounds(0, 1)
	if len(p.Rounds) != 1 || !p.More || p.Rounds[0].Phase != 1 || p.Rounds[0].Loss != nil {
		t.Errorf("the first page is %+v", p)
	}
	p = w.rounds(2, 1)
	if len(p.Rounds) != 2 || p.More || *p.Rounds[0].Loss != 7 || p.Rounds[1].Survey != "sketch" ||
		p.Rounds[1].Loss != nil {
		t.Errorf("the second page is %+v", p)
	}
	const n = 5 * mostRounds
	for i := uint64(4); i <= n; i++ {
		record(report.Event{Kind: report.RoundDone, N: i})
	}
	p = w.rounds(0, math.MaxInt)
	if len(p.Rounds) < mostRounds || len(p.Rounds) > 2*mostRounds ||
		p.Rounds[len(p.Rounds)-1].N != n {
		t.Errorf("%d rounds up to %d are remembered", len(p.Rounds), p.Rounds[len(p.Rounds)-1].N)
	}
}
