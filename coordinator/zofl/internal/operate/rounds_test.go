package operate

import (
	"math"
	"testing"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire/survey"
)

// A run pauses after a later round, and Rounds returns the losses of its rounds.
func TestPauseAfterAndRounds(t *testing.T) {
	l := newLab(t)
	l.serve()
	to := l.reach(4).Rounds + 1000 // not over before the pause is known
	l.must(VerbPause, Request{After: to, Reason: "a thousand more"})
	s := l.must(VerbStatus, Request{})
	for s.State != "paused" {
		s = l.must(VerbStatus, Request{})
	}
	if s.Rounds != to || s.Reason != "a thousand more" {
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
		if r.N != uint64(6+i) || r.Loss == nil || r.Contributors != 1 ||
			!(r.RoundStep > 0) || r.Perturbations == 0 {
			t.Errorf("round %d after record 5: %+v", i, r)
		}
	}
	if n := uint64(len(rounds)); n != s.N-5 {
		t.Errorf("%d rounds after record 5 of %d", n, s.N)
	}
}

// The history drops some of the oldest rounds.
func TestRoundsOfLongRuns(t *testing.T) {
	var w Watch
	record := func(e report.Event) {
		t.Helper()
		if err := w.Record(e); err != nil {
			t.Fatal(err)
		}
	}
	record(report.Event{Kind: report.PhaseDone, N: 2, Contributors: 1, Loss: float32(math.Inf(1))})
	record(report.Event{Kind: report.RoundDone, N: 3, Round: 1, Contributors: 1, Loss: 7})
	record(report.Event{Kind: report.Surveyed, N: 3, Round: 1, Contributors: 5,
		Survey: survey.Result{Kind: "sketch"}})
	record(report.Event{Kind: report.Joined, N: 3})
	rounds := roundsOf(w.Rounds().Snapshot(0))
	if len(rounds) != 3 || rounds[0].Phase != 1 || rounds[0].Loss != nil || *rounds[1].Loss != 7 ||
		rounds[2].Survey != "sketch" || rounds[2].Loss != nil {
		t.Errorf("rounds %+v", rounds)
	}
	const n = 50_000
	for i := uint64(4); i <= n; i++ {
		record(report.Event{Kind: report.RoundDone, N: i, Contributors: 1})
	}
	rounds = roundsOf(w.Rounds().Snapshot(0))
	if got := len(rounds); got < 4096 || got > 10_000 || rounds[got-1].N != n {
		t.Errorf("%d rounds up to %d are remembered", got, rounds[got-1].N)
	}
}

// The history comes in pages, and a page may end at any point or mark.
func TestHistoryInPages(t *testing.T) {
	l := newLab(t)
	l.serve()
	l.must(VerbPause, Request{After: 30, Reason: "thirty"})
	for l.must(VerbStatus, Request{}).State != "paused" {
	}
	for range 20 { // many marks at one record
		l.must(VerbResume, Request{})
		l.must(VerbPause, Request{})
	}
	s := l.must(VerbStatus, Request{})
	watch := l.watch
	wantPoints, wantMarks := watch.Rounds().Snapshot(8)
	for _, most := range []int{1, 500, 2000, 1 << 20} {
		points, marks := 0, 0
		for r := (Request{Since: 8}); ; {
			p := watch.historyPage(r, most)
			for _, x := range p.Points {
				if x.N != wantPoints[points].N {
					t.Fatalf("pages of %d bytes: point %d of record %d", most, points, x.N)
				}
				points++
				r.Since = x.N + 1
			}
			r.Marks += len(p.Marks)
			if marks = r.Marks; !p.More {
				break
			}
		}
		if points != len(wantPoints) || marks < len(wantMarks) {
			t.Errorf("pages of %d bytes: %d points of %d, %d marks of %d", most, points,
				len(wantPoints), marks, len(wantMarks))
		}
	}
	points, marks, err := History(t.Context(), l.nc, "kitchen", 8)
	if err != nil || len(points) != len(wantPoints) || points[0].N != 8 ||
		points[len(points)-1].N != s.N || len(marks) != len(wantMarks) {
		t.Errorf("%d points of %d, %d marks of %d, %v", len(points), len(wantPoints), len(marks),
			len(wantMarks), err)
	}
}
