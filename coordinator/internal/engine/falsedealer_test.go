package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/internal/secaggtest"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/secagg"
)

// A lie changes what a device answers to a step, in a fleet of seven. A nil result is no answer.
type lie func(f *maskedFleet, liar int, step secagg.Step, b []byte) []byte

// at returns a lie in one step: bytes from offset on, or from the end if it is negative, are false.
func at(step secagg.Step, offset int) lie {
	return func(_ *maskedFleet, _ int, open secagg.Step, b []byte) []byte {
		if open == step {
			b = slices.Clone(b)
			b[(offset+len(b))%len(b)] ^= 1
		}
		return b
	}
}

// dealsTo deals false shares, that open, to some devices.
func dealsTo(victims ...int) lie {
	return func(f *maskedFleet, liar int, step secagg.Step, b []byte) []byte {
		for _, v := range victims {
			if step != secagg.StepShares || f.devices[v] == nil {
				continue
			}
			var err error
			b, err = secaggtest.FalseShare(f.attempt.Round(&f.c.Plan), f.random[liar], uint32(liar),
				uint32(v), f.given[liar], b)
			if err != nil {
				f.t.Fatal(err)
			}
		}
		return b
	}
}

// inSteps tells several lies.
func inSteps(lies ...lie) lie {
	return func(f *maskedFleet, liar int, step secagg.Step, b []byte) []byte {
		for _, l := range lies {
			b = l(f, liar, step, b)
		}
		return b
	}
}

// hasAnotherSecret tells nothing false, but with another secret.
func hasAnotherSecret(_ *maskedFleet, _ int, _ secagg.Step, b []byte) []byte { return b }

// everywhere makes all bytes of a step false.
func everywhere(step secagg.Step) lie {
	return func(_ *maskedFleet, _ int, open secagg.Step, b []byte) []byte {
		if b = slices.Clone(b); open == step {
			for i := range b {
				b[i] ^= 0x5a
			}
		}
		return b
	}
}

// silent answers a step no more.
func silent(step secagg.Step) lie {
	return func(_ *maskedFleet, _ int, open secagg.Step, b []byte) []byte {
		if open == step {
			return nil
		}
		return b
	}
}

// refuses makes a device refuse what another one sent, in a step.
func refuses(step secagg.Step, of int) lie {
	return func(f *maskedFleet, liar int, open secagg.Step, b []byte) []byte {
		if open != step || f.devices[of] == nil {
			return b
		}
		f.refuse(liar, step, uint32(of))
		return nil
	}
}

// refuse says for a device that it cannot answer a step, because of another one.
func (f *maskedFleet) refuse(device int, step secagg.Step, slot uint32) {
	f.t.Helper()
	f.request(device, secagg.Request{Step: step, Rest: secagg.Refusal([]uint32{slot})})
}

// callsFalse makes a device say that another one's box does not open.
func callsFalse(of int) lie {
	return func(f *maskedFleet, liar int, open secagg.Step, b []byte) []byte {
		if open != secagg.StepMask || f.devices[of] == nil {
			return b
		}
		f.request(liar, secagg.Request{Step: open, Body: b, Rest: secagg.Refusal([]uint32{uint32(of)})})
		return nil
	}
}

// A trial is a run of seven devices, one of which lies.
type trial struct {
	*maskedFleet
	liar  int
	tells lie
}

// attempt takes the open attempt to its end, and reports whether it gave a round's record.
func (r *trial) attempt() (sum bool) {
	r.t.Helper()
	before, number := r.c.N, r.c.cohort.Attempt.Number
	open := func() bool {
		return r.c.phase() == collecting && r.c.N == before && r.c.cohort.Attempt.Number == number &&
			r.c.stepping()
	}
	for _, step := range stepsOf(&r.c.Plan) {
		for _, device := range upTo(len(r.scalars)) {
			d := r.devices[device]
			if d == nil || r.over[device] || !open() || step > secagg.StepKeys && r.given[device] == nil {
				continue
			}
			b, err := r.answer(step, device)
			if e := new(secagg.Error); errors.As(err, &e) {
				r.refuse(device, step, e.Slot)
				r.over[device] = true
				continue
			}
			if err != nil {
				continue // too few are left
			}
			if device == r.liar {
				b = r.tells(r.maskedFleet, device, step, b)
			}
			if b != nil {
				r.request(device, secagg.Request{Step: step, Body: b, Rest: secagg.Refusal(d.Refused())})
			}
		}
		if open() && r.c.policy.Steps.Step() == step.String() {
			r.wait(r.c.round.closes - r.now)
		}
	}
	for r.c.phase() == collecting && r.c.halt.shortage.Waits {
		r.wait(max(r.c.halt.shortage.RetryAt, r.now+1) - r.now)
	}
	if r.c.phase() != appending {
		return false
	}
	sum = r.record().Kind == wire.KindRound
	r.input(Input{Kind: InAppended, N: r.c.N + 1})
	return sum
}

// TestLiarOfSeven: one of seven devices lies in each attempt of a masked run with a quorum of six.
// At most two attempts are lost before the run leaves the liar out and names him. If nobody can
// tell which of two devices lies, no sum is lost, nobody is left out, and the run names both.
func TestLiarOfSeven(t *testing.T) {
	const commitment, keyTag, none = 64, 80, -1
	all := []int{0, 1, 2, 4, 5, 6}
	for _, c := range []struct {
		what  string
		tells lie
		lost  int // attempts
		or    int // the device that may lie in his place
	}{
		{"shares that do not fit his commitment", at(secagg.StepKeys, commitment), 2, none},
		{"false shares to all", dealsTo(all...), 2, none},
		{"false shares to one", dealsTo(0), 0, 0},
		{"false shares to the first two", dealsTo(0, 1), 2, none},
		{"to one, and no share of his own", inSteps(dealsTo(0), silent(secagg.StepUnmask)), 2, none},
		{"a box that does not open", at(secagg.StepShares, 5), 0, 0},
		{"no box opens", everywhere(secagg.StepShares), 2, none},
		{"a false tag of keys", at(secagg.StepKeys, keyTag), 2, none},
		{"a false tag of the list", at(secagg.StepMask, -1), 2, none},
		{"false answers", everywhere(secagg.StepUnmask), 0, none},
		{"a false answer about himself", at(secagg.StepUnmask, 3*32), 0, none},
		{"a false answer about another", at(secagg.StepUnmask, 0), 0, 0},
		{"he has another secret", hasAnotherSecret, 2, none},
		{"he refuses another's keys", refuses(secagg.StepShares, 1), 0, none},
		{"he refuses another's box", callsFalse(1), 0, 1},
	} {
		for what, p := range map[string]*plan.Plan{"": securePlan(t, 7), ", agreed": agreedPlan(t, 7)} {
			what = c.what + what
			if c.what == "a false tag of the list" && p.SecureLists == 0 {
				continue // there is none
			}
			p.Quorum, p.MaxAttempts = 6, 10
			r := &trial{maskedFleet: newMaskedFleet(t, p, 7), liar: 3, tells: c.tells}
			if c.what == "he has another secret" {
				r.other = map[uint32]int{3: 1}
				r.begin()
			}
			r.run(what, c.lost)
			r.checkNames(what, c.or)
		}
	}
}

// TestNobodyToSpare: where the quorum needs all seven devices and one answers falsely about another
// one, nobody can tell which of them lies. The run leaves out nobody, names the other one, and goes
// on when the liar stops.
func TestNobodyToSpare(t *testing.T) {
	p := securePlan(t, 7)
	p.Quorum, p.MaxAttempts = 7, 10
	r := &trial{maskedFleet: newMaskedFleet(t, p, 7), liar: 3, tells: at(secagg.StepUnmask, 0)}
	r.run("", 6)
	list, _ := r.c.Devices(r.now)
	for i := range list {
		why := list[i].Suspect
		if list[i].State == report.DeviceLeftOut || (why != "") != (i == 0) ||
			i == 0 && !strings.Contains(why, "or one of 6 others did; sums need them all") {
			t.Errorf("device %d is %v: %q", i, list[i].State, why)
		}
	}
	r.tells = func(_ *maskedFleet, _ int, _ secagg.Step, b []byte) []byte { return b }
	r.run("then all are honest", 0)
}

// run makes six attempts, and checks how many were lost.
func (r *trial) run(what string, lost int) {
	r.t.Helper()
	const attempts = 6
	sums := 0
	for range attempts {
		if r.attempt() {
			sums++
		}
		if r.c.phase() != collecting {
			r.t.Fatalf("%s: no round is open", what)
		}
		r.begin()
	}
	if sums < attempts-lost {
		r.t.Errorf("%s: %d sums in %d attempts, want %d", what, sums, attempts, attempts-lost)
	}
}

// checkNames checks whom the run names: the liar, or also another one that may lie in his place.
func (r *trial) checkNames(what string, or int) {
	r.t.Helper()
	names, status := ids(len(r.scalars)), r.c.Status()
	me := names[r.liar]
	list, _ := r.c.Devices(r.now)
	for i := range list {
		accused := i == r.liar || i == or
		out := i == r.liar && or < 0
		if why := status.Suspects[names[i]]; (why != "") != accused || why != list[i].Suspect ||
			(list[i].State == report.DeviceLeftOut) != out {
			r.t.Errorf("%s: device %d is %v, and the status says %q", what, i, list[i].State, why)
		}
	}
	want := "`zofl retire " + me + "`"
	if or >= 0 {
		want = "it or " + names[or] + " sends false shares"
	}
	if !strings.Contains(status.Suspects[me], want) {
		r.t.Errorf("%s: %q, want %q", what, status.Suspects[me], want)
	}
}
