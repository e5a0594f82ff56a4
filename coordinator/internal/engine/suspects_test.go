package engine

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// accused closes rounds in which the last devices send lies. accused returns the suspects that the
// core reports.
func (s *siege) accused(rounds int, lies ...float32) (list []*report.Event) {
	s.Helper()
	for range rounds {
		s.send(s.values(lies))
		for _, o := range s.c.out {
			if o.Kind == OutEvent && o.Event.Kind == report.Suspected {
				list = append(list, o.Event)
			}
		}
		s.close()
	}
	return list
}

// TestSuspect: a device whose contributions are ten times as long as usual is reported, less and
// less often, and named with what it did and how to remove it, until it has been honest for a while
// or is retired.
func TestSuspect(t *testing.T) {
	for name, fields := range guarded {
		t.Run(name, func(t *testing.T) {
			s := newSiege(t, fields...)
			liar := ids(besieged)[besieged-1]
			s.accused(20)
			if s.c.Plan.Regroup > 0 { // its groups ask for part of the devices
				return
			}
			list := s.accused(16+16+32, 60)
			if len(list) != 3 || list[0].ID != liar || list[1].N-list[0].N != 16 ||
				list[2].N-list[1].N != 32 {
				t.Fatalf("reported %d times: %+v", len(list), list)
			}
			for _, part := range []string{"16 of its last 16 contributions were more than 4 times",
				"`zofl retire " + liar + "`"} {
				if why := s.c.Status().Suspects[liar]; !strings.Contains(why, part) ||
					!strings.Contains(list[2].Reason, part) {
					t.Errorf("the status says %q, the event %q", why, list[2].Reason)
				}
			}
			for _, d := range s.members() {
				if (d.Suspect != "") != (d.ID == liar) {
					t.Errorf("%s: suspect %q", d.ID, d.Suspect)
				}
			}
			if list = s.accused(16); len(list) > 0 || len(s.c.Status().Suspects) > 0 {
				t.Errorf("when it is honest: %v", s.c.Status().Suspects)
			}
			s.accused(16, 60)
			s.c.Step(1, Input{Kind: InRetired, ID: liar})
			if list := s.c.Status().Suspects; len(list) > 0 {
				t.Errorf("when it is retired: %v", list)
			}
		})
	}
}

// members returns the members as the status of devices shows them.
func (s *siege) members() []report.Device {
	list, _ := s.c.Devices(1)
	return list
}

// TestTooManySuspects: if the contributions of more than a third of the devices stand out, nobody
// can tell who is wrong, and the status says so.
func TestTooManySuspects(t *testing.T) {
	s := newSiege(t)
	list := s.accused(16, 60, 60, 60, 60)
	st := s.c.Status()
	if len(list) > 0 || len(st.Suspects) > 0 ||
		!strings.Contains(st.Disputed, "4 of 10 devices") || strings.Contains(st.Disputed, "retire") {
		t.Errorf("reported %v, named %v: %q", list, st.Suspects, st.Disputed)
	}
	for _, d := range s.members() {
		if d.Suspect != "" {
			t.Errorf("%s: suspect %q", d.ID, d.Suspect)
		}
	}
	s.accused(16, 60, 60, 60)
	if st = s.c.Status(); len(st.Suspects) != 3 || st.Disputed != "" {
		t.Errorf("three suspects: %v, %q", st.Suspects, st.Disputed)
	}
}

// explode closes rounds in which all devices report losses that explode, and returns the reason of
// the pause.
func (s *siege) explode(t *testing.T, rounds int, lies ...float32) string {
	t.Helper()
	for round := range rounds {
		if s.c.halt.Pause != nil {
			break
		}
		for d, values := range s.values(lies) {
			r := wire.Reply{Kind: wire.Contribution, N: s.c.N + 1, Tip: s.c.Hash.Tip(), Weight: 1,
				Loss: 2.3 + 40*float32(round*round), Values: s.c.Plan.Precision.Append(nil, values...)}
			s.c.Step(1, Input{Kind: InReply, ID: ids(besieged)[d], Frame: r.Append(nil)})
		}
		s.close()
	}
	if s.c.halt.Pause == nil {
		t.Fatal("the run does not pause")
	}
	return s.c.halt.Pause.Reason
}

// TestDivergenceNamesACulprit: a run that diverges names a device whose contributions stand out,
// and the commands that continue without it. Only without such a device it advises a smaller step.
func TestDivergenceNamesACulprit(t *testing.T) {
	culprit := ids(besieged)[besieged-1]
	for name, k := range map[string]struct {
		fields []string
		calm   int
		lies   []float32
		want   string
	}{
		"a liar": {nil, 12, []float32{60}, "; look at " + culprit + " first, 15 of its last 15 " +
			"contributions were more than 4 times as long as usual: `zofl retire " + culprit +
			"`, `zofl rollback "},
		"a liar at once": {nil, 0, []float32{60}, "`zofl retire " + culprit + "`"},
		"a high quorum": {[]string{"quorum=10"}, 12, []float32{60},
			"`zofl change quorum=9`, `zofl resume`"},
		"too many":   {nil, 12, []float32{60, 60, 60, 60}, "4 of 10 devices stand out"},
		"no culprit": {nil, 12, nil, "`zofl change step="},
		"no bound":   {[]string{"bound=0"}, 12, []float32{60}, "`zofl change step="},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSiege(t, append([]string{"diverge=1"}, k.fields...)...)
			s.accused(k.calm, k.lies...)
			got := s.explode(t, 9, k.lies...)
			if !strings.Contains(got, k.want) || len(got) > wire.MaxReason {
				t.Errorf("%d bytes: %q, want %q", len(got), got, k.want)
			}
			step, retire := strings.Contains(got, "change step"), strings.Contains(got, "retire")
			if step == retire {
				t.Errorf("it advises a step and a culprit, or neither: %q", got)
			}
		})
	}
}

// TestDivergenceAfterRestart: a coordinator that began with the divergence says that it remembers
// too little to name a device. Until then it says nothing of a device.
func TestDivergenceAfterRestart(t *testing.T) {
	s := newSiege(t, "diverge=1")
	s.accused(20, 60)
	s.restart()
	if st := s.c.Status(); len(st.Suspects) > 0 || !st.Unjudged {
		t.Errorf("a coordinator that has just begun suspects %v; unjudged %v", st.Suspects, st.Unjudged)
	}
	got := s.explode(t, 9)
	if !strings.Contains(got, "began too late to see") || !strings.Contains(got, "change step") {
		t.Errorf("%q", got)
	}
}

// TestUnjudged: for eight rounds after a restart the status says that nobody is judged yet. It does
// not say so where nobody ever is.
func TestUnjudged(t *testing.T) {
	s := newSiege(t)
	s.accused(3)
	if s.c.Status().Unjudged {
		t.Error("it has not restarted")
	}
	s.restart()
	for r := range 9 {
		if got := s.c.Status().Unjudged; got != (r < 8) {
			t.Errorf("after %d rounds: unjudged %v", r, got)
		}
		s.accused(1)
	}
	s.restart()
	for name, edit := range map[string]func(*plan.Plan){
		"no bound":    func(p *plan.Plan) { p.Bound = 0 },
		"masked sums": func(p *plan.Plan) { p.Secure = 1 },
		"open roster": func(p *plan.Plan) { p.Roster = plan.OpenRoster },
	} {
		was := s.c.Plan
		if edit(&s.c.Plan); s.c.forgot() {
			t.Errorf("%s: it judges nobody, restarted or not", name)
		}
		s.c.Plan = was
	}
}
