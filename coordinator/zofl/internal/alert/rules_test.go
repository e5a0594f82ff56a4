package alert

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

type fakeRun struct{ status report.Status }

func (r *fakeRun) Status() report.Status { return r.status }

// A story feeds rules with events, in virtual time.
type story struct {
	t     *testing.T
	rules rules
	run   *fakeRun
	now   time.Time
}

func tellStory(t *testing.T) *story {
	s := &story{t: t, run: &fakeRun{report.Status{Run: "kitchen", State: report.Open}},
		rules: rules{after: 10 * time.Minute}, now: time.Unix(1e9, 0)}
	s.rules.lead(s.run, s.now)
	return s
}

// after lets time pass and looks at the run's status.
func (s *story) after(d time.Duration, want ...string) {
	s.t.Helper()
	s.now = s.now.Add(d)
	s.check(s.rules.tick(s.now), want)
}

func (s *story) event(e report.Event, want ...string) {
	s.t.Helper()
	s.check(s.rules.see(&e, func() string { return "it is worse" }, s.now), want)
}

// check compares alerts with texts "KIND STATE" and parts of their text.
func (s *story) check(got []Alert, want []string) {
	s.t.Helper()
	var list []string
	for _, a := range got {
		list = append(list, fmt.Sprintf("%s %s: %s", a.Kind, a.State, a.Text))
		if a.State == firing && a.Remedy == "" {
			s.t.Errorf("no remedy in %+v", a)
		}
	}
	if len(list) != len(want) {
		s.t.Fatalf("alerts %q, want %q", list, want)
	}
	for i, w := range want {
		for part := range strings.SplitSeq(w, "|") {
			if !strings.Contains(list[i], part) {
				s.t.Errorf("alert %q, want %q in it", list[i], part)
			}
		}
	}
}

var (
	roundDone = report.Event{Kind: report.RoundDone, N: 8, Round: 7}
	resumed   = report.Event{Kind: report.RunResumed}
	paused    = report.Event{Kind: report.RunPaused, Round: 7, Reason: "1 of 3 members present"}
)

// TestPause: a pause that the run tells again and again is one alert, and so is its end.
func TestPause(t *testing.T) {
	s := tellStory(t)
	s.event(paused, "paused firing: zofl: run kitchen is paused (round 7): 1 of 3 members present. "+
		"Try: `zofl resume --run kitchen`")
	s.event(paused)
	s.event(report.Event{Kind: report.StillPaused, Reason: "0 of 3"})
	s.run.status.State = report.Paused
	s.after(time.Hour)
	s.event(resumed, "paused resolved: zofl: run kitchen goes on")
	s.event(resumed)
}

// TestFlapping: a cause that comes and goes is told at most once in ten minutes, and not at all if
// it is over by then.
func TestFlapping(t *testing.T) {
	s := tellStory(t)
	s.event(paused, "paused firing")
	s.event(resumed, "paused resolved")
	for range 5 {
		s.event(roundDone)
		s.event(paused)
		s.after(time.Minute)
		s.event(resumed)
	}
	s.event(paused)
	s.run.status.State = report.Paused
	s.after(6*time.Minute, "paused firing")
	s.event(resumed, "paused resolved")
}

// TestDivergence: the reason's commands are the remedy.
func TestDivergence(t *testing.T) {
	s := tellStory(t)
	e := report.Event{Kind: report.RunPaused, Diverged: true, Reason: "diverged: the median loss is " +
		"217 and began at 2.3: `zofl rollback 1`, `zofl change step=0.1`, `zofl resume`"}
	got := s.rules.see(&e, nil, s.now)
	s.check(got, []string{"diverged firing|because the loss explodes"})
	if want := "zofl rollback 1; zofl change step=0.1; zofl resume"; got[0].Remedy != want {
		t.Errorf("remedy %q, want %q", got[0].Remedy, want)
	}
	s.event(report.Event{Kind: report.StillPaused, Reason: "the same"})
	s.event(resumed, "diverged resolved")
}

// TestNoRound: a run that makes no round for ten minutes is an alert, unless it is paused or ended.
func TestNoRound(t *testing.T) {
	s := tellStory(t)
	s.run.status.Waits = "8 of 10 joined; `zofl change members=8` starts now"
	s.after(9 * time.Minute)
	s.after(time.Minute, "no round firing|makes no rounds|8 of 10 joined")
	s.after(time.Hour)
	s.event(roundDone, "no round resolved|makes rounds again")
	s.run.status.Waits = ""
	s.after(11*time.Minute, "no round firing|no round for 11m0s. Try: `zofl status --run kitchen`, "+
		"`zofl devices --run kitchen`")
	s.event(paused, "no round resolved", "paused firing")
	s.run.status.State = report.Paused
	s.after(time.Hour)
}

// TestSuspects: each suspect is an alert, until it is retired or stands out no longer.
func TestSuspects(t *testing.T) {
	s := tellStory(t)
	liar := report.Event{Kind: report.Suspected, ID: "d5", Reason: "14 of its last 16 were 4 times " +
		"as long; `zofl retire d5` removes it"}
	other := report.Event{Kind: report.Suspected, ID: "d6", Reason: "it lies"}
	s.event(liar, "suspect firing|device d5")
	s.event(liar)
	s.event(other, "suspect firing|Try: `zofl retire d6 --run kitchen`")
	s.run.status.Suspects = map[string]string{"d5": "", "d6": ""}
	s.after(time.Minute)
	s.event(report.Event{Kind: report.Retired, ID: "d5"}, "suspect resolved|d5")
	s.run.status.Suspects = nil
	s.after(time.Minute, "suspect resolved|d6")
	s.event(report.Event{Kind: report.Retired, ID: "d6"})
	for i := range 1000 {
		s.rules.see(&report.Event{Kind: report.Suspected, ID: fmt.Sprint("x", i)}, nil, s.now)
	}
	if n := len(s.rules.causes); n > mostCauses {
		t.Errorf("%d causes are remembered", n)
	}
}

// TestDigests: devices with another model are an alert until all have the same again.
func TestDigests(t *testing.T) {
	s := tellStory(t)
	e := report.Event{Kind: report.DigestsDiffer}
	e.Digests.Differ = []string{"pi-1", "pi-2"}
	s.run.status.Digests = []report.DigestReports{{Differing: 2, Reporters: 4}}
	s.event(e, "digests differ firing|pi-1, pi-2")
	s.after(time.Minute)
	s.run.status.Digests = []report.DigestReports{{Differing: 2, Reporters: 4}, {Reporters: 4}}
	s.after(time.Minute, "digests differ resolved")
}

// TestEnd: the end is one alert, with what is wrong with it, and the last one.
func TestEnd(t *testing.T) {
	s := tellStory(t)
	s.event(paused, "paused firing")
	s.event(report.Event{Kind: report.RunEnded, Round: 9, End: wire.End{Reason: wire.EndRounds}},
		"ended firing|has ended (round 9): all its rounds are done; it is worse. Try: `zofl report")
	s.run.status.State = report.Ended
	s.after(time.Hour)
	over := &fakeRun{report.Status{State: report.Ended}}
	if got := tellStory(t).rules.lead(over, s.now); got != nil {
		t.Errorf("a coordinator of an ended run tells %v", got)
	}
}

// TestPausedBefore: a coordinator that begins with a paused run tells that, and who paused it.
func TestPausedBefore(t *testing.T) {
	s := tellStory(t)
	s.run.status = report.Status{Run: "kitchen", State: report.Paused, By: "ann", Reason: "lunch"}
	s.check(s.rules.lead(s.run, s.now), []string{"paused firing|ann: lunch"})
	s.event(paused)
}

// TestPlain: nothing of a reason may command a terminal or a chat, or carry a password.
func TestPlain(t *testing.T) {
	s := tellStory(t)
	e := paused
	e.Reason = "\x1b[2J<!channel> nats://ann:secret@10.0.0.1:4222 down\n" + strings.Repeat("é", 4000)
	got := s.rules.see(&e, nil, s.now)
	b, err := json.Marshal(got[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"secret", "<!channel>", "\x1b", "\n"} {
		if strings.Contains(got[0].Text, bad) ||
			bad != "<!channel>" && strings.Contains(string(b), bad) {
			t.Errorf("%q is in %s", bad, b)
		}
	}
	if len(b) > 3*mostReason {
		t.Errorf("%d bytes", len(b))
	}
}
