package presence

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// The list of absent members and the number of present members follow every change of a member's
// presence, in any order.
func TestCrowdKeepsCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var w Crowd
	w.Grow(40, true)
	for now := uint64(1); now < 5000; now++ {
		slot := rng.Uint32N(40)
		p := &w.Members[slot]
		switch rng.IntN(6) {
		case 0:
			p.Left = !p.Left
		case 1:
			p.Misses = uint8(rng.IntN(SilentAfter + 1))
		case 2:
			p.Until = now + rng.Uint64N(50)
		case 3:
			p.Until = 0
		case 4:
			w.Pardon(now)
		}
		w.Place(slot, now)
		w.Sweep(now)
		absent := 0
		for i := range w.Members {
			p := &w.Members[i]
			away := p.State(now) != report.DevicePresent
			if away {
				absent++
			}
			if away != p.Absent() || away && w.absent[p.at-1] != uint32(i) {
				t.Fatalf("at %d: slot %d is %v, place %d of %v", now, i, p.State(now), p.at,
					w.absent)
			}
		}
		if w.Present() != uint32(40-absent) {
			t.Fatalf("at %d: %d present, want %d", now, w.Present(), 40-absent)
		}
	}
}

// A member for which rounds wait in vain again and again is doubtful, for longer each time,
// whatever the member sends in between. A member that answers most of the time is not doubtful.
func TestDoubt(t *testing.T) {
	var w Crowd
	w.Grow(2, true)
	n := uint64(0)
	answers := func(slot uint32) (paid int) {
		for w.Members[slot].Doubtful() {
			n++
			w.Redeem(slot, n)
			w.Redeem(slot, n)
			paid++
		}
		return paid
	}
	for _, want := range []int{8, 16, 32, 64, 128, 256, 256} {
		for miss := range SilentAfter {
			if w.Members[0].Doubtful() {
				t.Fatalf("doubtful after %d deadlines", miss)
			}
			w.Stalled(0)
			w.Members[0].Heard(1)
		}
		if w.Doubtful() != 1 {
			t.Fatalf("%d are doubtful, want 1", w.Doubtful())
		}
		if got := answers(0); got != want || w.Doubtful() != 0 {
			t.Errorf("%d answers were owed, want %d; %d doubtful", got, want, w.Doubtful())
		}
	}
	for range 100 {
		w.Stalled(1)
		for range vainMiss {
			n++
			w.Redeem(1, n)
		}
	}
	if w.Members[1].Doubtful() {
		t.Error("doubtful though it answers 8 of 9 times")
	}
	w.Doubt(1)
	if got := answers(1); got != firstDebt {
		t.Errorf("a newcomer owes %d answers, want %d", got, firstDebt)
	}
}

// A round waits longer for a member that usually takes longer. The time doubles with each round
// that waited in vain, until the member answers.
func TestPatience(t *testing.T) {
	var w Crowd
	w.Grow(1, true)
	p := &w.Members[0]
	if !p.Relied(1<<40, 100, 50) {
		t.Error("a member that never answered has a known latency")
	}
	want := func(most uint64) {
		t.Helper()
		if !p.Relied(most-1, 100, 50) || p.Relied(most, 100, 50) {
			t.Errorf("a round waits not %d ms", most)
		}
	}
	p.Misses = SilentAfter - 1 // as after a restart
	want(50)
	p.Heard(1)
	if !p.Relied(1<<40, 100, 50) {
		t.Error("a member that is there, and never answered, has a known latency")
	}
	p.Took(0)
	want(100)
	w.Stalled(0)
	want(200)
	w.Stalled(0)
	want(400)
	p.Took(20)
	want(8 * 20)
	p.debt = 1
	if p.Relied(0, 100, 50) {
		t.Error("a doubtful member is relied on")
	}
}

// Texts use the singular for one member and the plural for several.
func TestCount(t *testing.T) {
	for want, got := range map[string]string{"0 attempts": Count(0, "attempt"),
		"1 attempt": Count(1, "attempt"), "2 members": Count(2, "member")} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for members, want := range map[int]string{
		1: "1 of 1 member present, quorum 3: ", 2: "2 of 2 members present, quorum 3: "} {
		c := Crowd{Members: make([]Member, members)}
		p := &plan.Plan{RoundsFields: plan.RoundsFields{Quorum: 3}}
		if got := c.Lacks(p); !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q at its beginning", got, want)
		}
	}
}

// TestLacksAnswers: where enough members are present, nobody has to come back.
func TestLacksAnswers(t *testing.T) {
	c := Crowd{Members: make([]Member, 2)}
	for quorum, want := range map[uint32]string{
		2: "2 of 2 members present, quorum 2: too few answered, it asks again",
		3: "2 of 2 members present, quorum 3: it goes on when they are back; " +
			"`zofl change quorum=2` goes on now",
	} {
		p := &plan.Plan{RoundsFields: plan.RoundsFields{Quorum: quorum}}
		if got := c.Lacks(p); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestAdviceOfSums: where the quorum may only rise, no text advises a lower one.
func TestAdviceOfSums(t *testing.T) {
	p := &plan.Plan{RoundsFields: plan.RoundsFields{Quorum: 3, Members: 5}}
	c, r := Crowd{Members: make([]Member, 2)}, Roster{Stored: 2}
	for secure, want := range []bool{true, false} {
		p.Secure = uint8(secure)
		for _, text := range []string{c.Lacks(p), r.Awaits(p)} {
			if got := strings.Contains(text, "zofl change"); got != want {
				t.Errorf("secure %d: %q", secure, text)
			}
		}
	}
	r.Stored = 3
	if text := r.Awaits(p); !strings.Contains(text, "`zofl change members=3` starts now") {
		t.Errorf("three joined: %q", text)
	}
}

// TestWhy: a text about declines has their reasons, and what a person can do.
func TestWhy(t *testing.T) {
	reasons := make([]uint32, wire.DeclineLeaving+1)
	reasons[wire.DeclinePolicy], reasons[wire.DeclineTime] = 1, 3
	a := Answers{Declines: 4}
	want := "; 4 declined: 1 policy, 3 time (raise deadline, unless their loss hangs)"
	if got := a.Why(reasons); got != want {
		t.Errorf("%q", got)
	}
	clear(reasons)
	reasons[wire.DeclineTooLarge], a.Declines = 1, 1
	if got := a.Why(reasons); !strings.Contains(got, "`zofl change mu=auto`, or a longer mu") ||
		strings.Contains(got, "max_scalar") { // which precision=half cannot raise
		t.Errorf("%q", got)
	}
}

// TestWanted: round 1 does not wait for retired members, but for a quorum all the same.
func TestWanted(t *testing.T) {
	for retired, want := range map[int]int{0: 5, 1: 4, 2: 3, 3: 3} {
		p := &plan.Plan{}
		p.Members, p.Quorum = 5, 3
		if got := (&Roster{Retired: retired}).Wanted(p); got != want {
			t.Errorf("%d of 5 are retired: round 1 waits for %d, want %d", retired, got, want)
		}
	}
}
