package mobile

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/client/mobile"
	"github.com/zofl/zofl/plan"
)

// roughPlan returns a plan for a good device and a bad one: a round needs only one.
func roughPlan(t *testing.T, run string, dim int) *plan.Plan {
	t.Helper()
	p := testPlan(t, run, dim, 2, 1, 40)
	p.Deadline = 400
	return p
}

// TestLiveLossMisbehaves checks that a loss that returns no number costs only its own rounds. The
// client reports the reason, takes part in the other rounds, and ends with the digest of the log.
func TestLiveLossMisbehaves(t *testing.T) {
	t.Parallel()
	const dim, after, each = 100, 10, 3 // calls before it misbehaves, and calls in a round
	s := newSite(t)
	for name, tt := range map[string]struct {
		does func(*lead) (float64, error)
		code string
		says string
	}{
		"nan":  {func(*lead) (float64, error) { return math.NaN(), nil }, mobile.CodeLoss, "finite"},
		"inf":  {func(*lead) (float64, error) { return math.Inf(1), nil }, mobile.CodeLoss, "finite"},
		"huge": {func(*lead) (float64, error) { return 1e20, nil }, mobile.CodeLoss, "max_scalar"},
		"error": {func(*lead) (float64, error) { return 0, errors.New("no camera") },
			mobile.CodeLoss, "no camera"},
		"panics": {func(*lead) (float64, error) { panic("no battery") }, mobile.CodeLoss, "no battery"},
		// late by a round: the client reports that for this round or the next
		"late": {func(l *lead) (float64, error) {
			l.after(<-l.round + 2)
			return 0, nil
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := s.lead(roughPlan(t, name, dim))
			fine := s.phone(name, "fine", dim,
				func(c *mobile.Config) { c.SetObjective(slow(5 * time.Millisecond)) })
			var rough *phone
			made := make(chan struct{})
			objective := &loss{f: func(n int) (float64, error) {
				<-made
				// A round that closed meanwhile is not reported. Then the loss misbehaves
				// again, in a different call of a round, where fewer rounds close.
				if n == after || n > after && (n-after)%(2*each+1) == 0 && len(rough.ear.said(tt.code)) == 0 {
					return tt.does(l)
				}
				return 0, nil
			}}
			rough = s.phone(name, "rough", dim, func(c *mobile.Config) { c.SetObjective(objective) })
			close(made)
			for _, p := range []*phone{fine, rough} {
				p.returned("")
				l.agrees(p.Client, p.id)
				p.alone()
			}
			said := strings.Join(rough.ear.said(tt.code), "\n")
			if said == "" || !strings.Contains(said, tt.says) {
				t.Errorf("told %q, want %q with code %q", rough.ear.all(), tt.says, tt.code)
			}
			n, calls := rough.Contributions(), objective.made()
			if n < after/each+1 || each*n >= int64(calls) {
				t.Errorf("%d contributions after %d calls, want some before and after it, and "+
					"none with it", n, calls)
			}
		})
	}
}

// TestLiveLossHangs checks that a device whose loss never returns takes part in no round, but still
// gets the model and can stop. Once the loss has returned, no goroutine is left.
func TestLiveLossHangs(t *testing.T) {
	t.Parallel()
	const dim = 100
	s := newSite(t)
	for _, stop := range []bool{false, true} {
		name := map[bool]string{false: "hangs", true: "hangs-and-stopped"}[stop]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := s.lead(roughPlan(t, name, dim))
			hold := make(chan struct{})
			fine := s.phone(name, "fine", dim,
				func(c *mobile.Config) { c.SetObjective(slow(5 * time.Millisecond)) })
			hangs := s.phone(name, "hangs", dim, func(c *mobile.Config) {
				c.SetObjective(&loss{f: func(int) (float64, error) { <-hold; return 0, nil }})
			})
			hangs.faulted(mobile.CodeBusy) // in the round after it
			if stop {
				hangs.stopped()
			} else {
				hangs.returned("")
				l.agrees(hangs.Client, "hangs")
			}
			if n := hangs.Contributions(); n != 0 {
				t.Errorf("%d contributions from a loss that hangs", n)
			}
			if !stop { // otherwise every round would wait for the device
				fine.returned("")
				l.agrees(fine.Client, "fine")
			}
			close(hold)
			hangs.alone()
		})
	}
}

// TestLiveListenerMisbehaves checks that the run continues whatever a listener does, and that Stop
// ends the run even from inside a callback.
func TestLiveListenerMisbehaves(t *testing.T) {
	t.Parallel()
	const dim = 100
	s := newSite(t)
	l := s.lead(testPlan(t, "listens", dim, 3, 3, 20))
	hold := make(chan struct{})
	phones := map[string]*phone{}
	for name, does := range map[string]func(){
		"throws": func() { panic("no screen") },
		"hangs":  func() { <-hold },
		"fine":   nil,
	} {
		p := newPhone(t, s.settings("listens", name, dim))
		p.ear.does = does
		phones[name] = p
		p.start()
	}
	for _, p := range phones {
		p.returned("")
		l.agrees(p.Client, p.id)
		if p.Contributions() < 19 {
			t.Errorf("%s: %d contributions to 20 rounds", p.id, p.Contributions())
		}
	}
	close(hold)
	for _, p := range phones {
		p.alone()
	}
}

// TestLiveStopInside checks that the objective and the listener may call Stop: Run returns, and the
// client releases both objects.
func TestLiveStopInside(t *testing.T) {
	t.Parallel()
	const dim = 100
	s := newSite(t)
	forever := roughPlan(t, "stop", dim)
	forever.Rounds = 1_000_000
	s.lead(forever)
	s.phone("stop", "other", dim,
		func(c *mobile.Config) { c.SetObjective(slow(5 * time.Millisecond)) })
	var p *phone
	cfg := s.settings("stop", "objective", dim)
	began := make(chan struct{})
	cfg.SetObjective(&loss{f: func(n int) (float64, error) {
		if n == 5 {
			<-began
			p.Stop()
			p.Stop()
		}
		return 0, nil
	}})
	p = newPhone(t, cfg)
	p.start()
	close(began)
	p.returned("")
	if p.State() != mobile.StateStopped || p.Run() == nil {
		t.Errorf("state %s after Stop, and Run does not refuse", mobile.StateName(p.State()))
	}
	p.alone()

	heard := newPhone(t, s.settings("stop", "objective", dim)) // replaces the one that stopped
	heard.ear.does = func() {
		if heard.Contributions() > 0 {
			heard.Stop()
		}
	}
	heard.start()
	heard.returned("")
	heard.alone()
	if states := heard.ear.states; len(states) == 0 || states[len(states)-1] != mobile.StateStopped {
		t.Errorf("the listener was told the states %v, want stopped at last", states)
	}
}

// TestLivePolicy checks that a device declines rounds while network and power do not meet the
// Config's requirements, gives the reason, and takes part as soon as they do.
func TestLivePolicy(t *testing.T) {
	t.Parallel()
	const dim = 100
	s := newSite(t)
	s.lead(testPlan(t, "policy", dim, 2, 1, 1_000_000))
	s.phone("policy", "other", dim,
		func(c *mobile.Config) { c.SetObjective(slow(5 * time.Millisecond)) })
	p := newPhone(t, func() *mobile.Config {
		c := s.settings("policy", "picky", dim)
		c.UnmeteredOnly, c.MinBattery = true, 30
		return c
	}())
	p.start()
	declines := func(why string) {
		t.Helper()
		p.until("declining with "+why, func() bool {
			return strings.Contains(strings.Join(p.ear.said(mobile.CodePolicy), "\n"), why)
		})
	}
	contributes := func() {
		t.Helper()
		n := p.Contributions()
		p.until("contributing", func() bool { return p.Contributions() > n+2 })
	}
	declines("SetNetwork")
	p.SetNetwork(true, true)
	declines("is metered")
	if n := p.Contributions(); n != 0 {
		t.Errorf("%d contributions on a metered network", n)
	}
	p.SetNetwork(true, false) // another network, so the client reconnects
	declines("SetPower")
	p.SetPower(false, 20)
	declines("20 percent")
	p.SetPower(true, 20)
	contributes()
	p.SetPower(false, 29)
	declines("29 percent")
	p.SetPower(false, 30)
	contributes()
	p.stopped()
}
