package alert

import (
	"cmp"
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

// again is the least time between two alerts of one cause. If a cause comes back sooner, its alert
// waits until then, and is dropped if the cause is gone by then.
const again = 10 * time.Minute

// A cause is a reason for an alert that holds at present, or held before.
type cause struct {
	alert Alert
	holds bool
	told  time.Time // when it was last sent; zero: never
	sent  bool      // it holds, and that was sent
}

// rules decide which alerts follow from the events of a run. They have no clock and no goroutine.
type rules struct {
	after  time.Duration // without a round, until that is an alert; 0: never
	causes map[string]*cause
	run    Run
	name   string
	last   time.Time // of the last round, or when the run went on
	ended  bool
}

// A Run is the part of a coordinator that the rules ask.
type Run interface{ Status() report.Status }

// lead begins with a coordinator that takes the lead.
func (r *rules) lead(run Run, now time.Time) []Alert {
	s := run.Status()
	r.run, r.name, r.last, r.ended = run, s.Run, now, s.State == report.Ended
	if r.causes == nil {
		r.causes = map[string]*cause{}
	}
	if s.State == report.Paused {
		return r.fire(r.alert(Paused, s.N, s.Rounds, now), byWhom(&s)+s.Reason, r.cmd("resume"), now)
	}
	return nil
}

// cmd is a command about the run.
func (r *rules) cmd(verb string) string { return "zofl " + verb + " --run " + r.name }

func (r *rules) alert(k Kind, n, round uint64, now time.Time) Alert {
	return Alert{Run: r.name, Kind: k, State: firing, Record: n, Round: round,
		Time: now.UTC().Truncate(time.Millisecond)}
}

// byWhom begins a reason with the person who paused the run.
func byWhom(s *report.Status) string {
	if s.By == "" {
		return ""
	}
	return s.By + ": "
}

// see returns the alerts that follow from an event.
func (r *rules) see(e *report.Event, worse func() string, now time.Time) []Alert {
	if r.run == nil {
		return nil
	}
	a := func(k Kind) Alert { return r.alert(k, e.N, e.Round, now) }
	switch e.Kind {
	case report.RoundDone:
		r.last = now
		return r.resolve(a(NoRound))
	case report.RunPaused, report.StillPaused:
		kind := Paused
		if e.Diverged || r.firing(Diverged) {
			kind = Diverged
		}
		s := r.run.Status()
		return append(r.resolve(a(NoRound)),
			r.fire(a(kind), byWhom(&s)+e.Reason, r.cmd("resume"), now)...)
	case report.RunResumed:
		r.last = now
		return append(r.resolve(a(Paused)), r.resolve(a(Diverged))...)
	case report.Suspected:
		suspect := a(Suspect)
		suspect.Device = e.ID
		return r.fire(suspect, e.Reason, "zofl retire "+e.ID+" --run "+r.name, now)
	case report.Retired:
		suspect := a(Suspect)
		suspect.Device = e.ID
		return r.resolve(suspect)
	case report.DigestsDiffer:
		reason := ""
		for i, id := range e.Digests.Differ {
			if i > 0 {
				reason += ", "
			}
			reason += id
		}
		return r.fire(a(Differ), reason, r.cmd("status"), now)
	case report.RunEnded:
		r.ended, r.causes = true, map[string]*cause{}
		reason := endings[e.End.Reason]
		if e.End.Text != "" {
			reason += ": " + e.End.Text
		}
		if text := worse(); text != "" {
			reason += "; " + text
		}
		return r.fire(a(Ended), reason, r.cmd("report --out "+r.name+".html"), now)
	}
	return nil
}

// endings say why runs end.
var endings = map[wire.EndReason]string{wire.EndRounds: "all its rounds are done",
	wire.EndRequested: "somebody asked for it", wire.EndMetric: "its metric reached the goal"}

// key tells causes apart.
func key(a *Alert) string { return string(a.Kind) + " " + a.Device }

// firing says whether a cause holds.
func (r *rules) firing(k Kind) bool {
	c := r.causes[key(&Alert{Kind: k})]
	return c != nil && c.holds
}

// mostCauses bounds the causes that rules remember. Nobody reads more suspects.
const mostCauses = 64

// fire returns an alert, unless its cause held before. Of a cause that comes back too soon, tick
// returns the alert later.
func (r *rules) fire(a Alert, reason, remedy string, now time.Time) []Alert {
	c := r.causes[key(&a)]
	switch {
	case c == nil && len(r.causes) >= mostCauses, c != nil && c.holds:
		return nil
	case c == nil:
		c = &cause{}
		r.causes[key(&a)] = c
	}
	a.finish(reason, remedy)
	c.alert, c.holds, c.sent = a, true, false
	return r.tell(c, now)
}

// tell returns the alert of a cause that holds, unless it was sent or it is too soon.
func (r *rules) tell(c *cause, now time.Time) []Alert {
	if c.sent || !c.told.IsZero() && now.Sub(c.told) < again {
		return nil
	}
	c.sent, c.told = true, now
	return []Alert{c.alert}
}

// resolve returns that a cause is gone, if people heard of the cause.
func (r *rules) resolve(a Alert) []Alert {
	c := r.causes[key(&a)]
	if c == nil || !c.holds {
		return nil
	}
	sent := c.sent
	c.holds, c.sent = false, false
	if !sent {
		return nil
	}
	a.State = resolved
	a.finish("", "")
	return []Alert{a}
}

// tick returns the alerts that follow from the time alone, and from the status.
func (r *rules) tick(now time.Time) (list []Alert) {
	if r.run == nil || r.ended {
		return nil
	}
	for _, c := range r.causes {
		if c.holds {
			list = append(list, r.tell(c, now)...)
		}
	}
	s := r.run.Status()
	paused := s.State == report.Paused || s.State == report.Ended || s.State == report.Deposed
	if r.after > 0 && now.Sub(r.last) >= r.after && !paused && !r.firing(NoRound) {
		reason := cmp.Or(s.Waits, "no round for "+now.Sub(r.last).Round(time.Second).String())
		list = append(list, r.fire(r.alert(NoRound, s.N, s.Rounds, now), reason,
			r.cmd("status")+"; "+r.cmd("devices"), now)...)
	}
	for _, c := range r.causes {
		_, named := s.Suspects[c.alert.Device]
		suspect := named || len(s.Suspects) >= 8 // a status names no more
		gone := c.alert.Kind == Suspect && !suspect || c.alert.Kind == Differ && agree(s.Digests)
		if c.holds && gone {
			a := r.alert(c.alert.Kind, s.N, s.Rounds, now)
			a.Device = c.alert.Device
			list = append(list, r.resolve(a)...)
		}
	}
	return list
}

// agree says whether devices reported the same digest of the newest state.
func agree(digests []report.DigestReports) bool {
	return len(digests) > 0 && digests[len(digests)-1].Differing == 0 &&
		digests[len(digests)-1].Reporters > 1
}
