package engine

import (
	"maps"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/secagg"
)

// TestMaskedDropouts: whichever devices leave, in whichever step, the record has the mean over the
// devices whose masked scalars arrived. The mean equals that of their words bit for bit.
func TestMaskedDropouts(t *testing.T) {
	for _, plan := range []*plan.Plan{securePlan(t, 10), agreedPlan(t, 10)} {
		for _, at := range append(stepsOf(plan), secagg.StepDone) {
			dropThree(t, plan, at)
		}
	}
}

// dropThree runs a round of ten devices, three of which leave before they answer a step.
func dropThree(t *testing.T, plan *plan.Plan, at secagg.Step) {
	t.Helper()
	f := newMaskedFleet(t, plan, 10)
	there := upTo(10)
	summed := there
	for _, step := range stepsOf(plan) {
		if step == at {
			there = []int{1, 2, 4, 5, 6, 7, 8}
		}
		if step <= secagg.StepMask {
			summed = there
		}
		f.step(step, there...)
		if step == at && step != secagg.StepUnmask {
			if f.c.phase() == appending || f.given[there[0]] != nil && step == secagg.StepKeys {
				t.Fatalf("lost in %v: the step closed before its end", at)
			}
			f.wait(f.c.round.closes - f.now)
		}
	}
	f.check(summed...)
}

// TestMaskedBelowThreshold: if an attempt loses too many devices, the core begins another attempt
// with other keys. If the coordinator has already asked devices to unmask, the core skips the
// record's index.
func TestMaskedBelowThreshold(t *testing.T) {
	for _, plan := range []func(*testing.T, int) *plan.Plan{securePlan, agreedPlan} {
		for last := range stepsOf(plan(t, 10)) {
			loseFive(t, plan(t, 10), last)
		}
	}
}

// loseFive runs a round of ten devices, five of which leave before they answer a step, and the next
// round with all devices.
func loseFive(t *testing.T, plan *plan.Plan, last int) {
	t.Helper()
	f, steps := newMaskedFleet(t, plan, 10), stepsOf(plan)
	for _, step := range steps[:last] {
		f.step(step, upTo(10)...)
	}
	f.step(steps[last], upTo(5)...)
	nonce := f.attempt.Nonce()
	f.wait(f.c.round.closes - f.now)
	if !f.over[0] {
		t.Errorf("lost in %v: a device that waits was not told", steps[last])
	}
	if steps[last] == secagg.StepUnmask {
		if r := f.record(); r.Kind != wire.KindChange {
			t.Fatalf("record %+v, want one that changes nothing", r)
		}
		before := f.c.Plan.Quorum
		f.input(Input{Kind: InAppended, N: f.c.N + 1})
		if f.c.Plan.Quorum != before {
			t.Errorf("quorum %d, want %d", f.c.Plan.Quorum, before)
		}
	}
	f.begin()
	if f.attempt.Nonce() == nonce {
		t.Errorf("lost in %v: the next attempt has the same name", steps[last])
	}
	for _, step := range steps {
		f.step(step, upTo(10)...)
	}
	f.check(upTo(10)...)
}

// TestMaskedFrames: a repeated message gets the same answer. A garbled or foreign message, or a
// message of another attempt, changes nothing.
func TestMaskedFrames(t *testing.T) {
	for _, plan := range []*plan.Plan{securePlan(t, 10), agreedPlan(t, 10)} {
		hostileFrames(t, plan)
	}
}

func hostileFrames(t *testing.T, plan *plan.Plan) {
	t.Helper()
	f := newMaskedFleet(t, plan, 10)
	hostile := func(step secagg.Step) {
		t.Helper()
		for _, body := range [][]byte{nil, {1}, make([]byte, 3), make([]byte, 60000)} {
			f.send(0, step, body)
			f.send(0, (step+1)%secagg.StepDone, body)
		}
		f.input(Input{Kind: InStep, ID: "stranger", Token: "x", Frame: f.requestOf(step)})
		f.input(Input{Kind: InStep, ID: ids(10)[0], Token: "x", Frame: []byte{0x95, 1}})
		f.input(Input{Kind: InStep, ID: ids(10)[0], Frame: f.requestOf(step)})
		plain := wire.Reply{Kind: wire.Contribution, N: f.c.N + 1, Tip: f.c.Hash.Tip(), Weight: 1,
			Values: wire.AppendScalars(nil, 1, 2, 3)}
		f.input(Input{Kind: InReply, ID: ids(10)[0], Frame: plain.Append(nil)})
	}
	for _, step := range stepsOf(plan) {
		given := maps.Clone(f.given)
		hostile(step)
		f.given = maps.Clone(given)
		f.step(step, 0)
		f.step(step, 0)              // again
		if step == secagg.StepKeys { // of a device that lost its keys
			f.send(0, step, make([]byte, 96))
			if !f.over[0] {
				t.Error("a device that lost its keys is not told that it is out")
			}
		}
		f.step(step, upTo(10)[1:]...)
		if step == secagg.StepUnmask {
			break
		}
		first := f.given[0]
		f.given[0] = given[0]
		f.step(step, 0) // its answer was lost
		if first == nil || string(f.given[0]) != string(first) {
			t.Errorf("step %v: a repeated request has another answer", step)
		}
	}
	f.check(upTo(10)...)
	steps := uint64(len(stepsOf(plan)))
	if n := f.c.counters; n.Malformed < 8 || n.Unknown < 4 || n.WrongCount != steps {
		t.Errorf("counters %+v, want what came to be counted", n)
	}
}

// TestMaskedRestart: a coordinator that restarts in any step begins another attempt. Devices that
// unmasked the record before decline it, and the core skips the record's index.
func TestMaskedRestart(t *testing.T) {
	f := newMaskedFleet(t, securePlan(t, 10), 10)
	f.step(secagg.StepKeys, upTo(10)...)
	f.step(secagg.StepShares, upTo(10)...)
	old := f.attempt.Nonce()
	log := &runlog.Memory{}
	if err := log.Append(t.Context(), 1, f.c.First); err != nil {
		t.Fatal(err)
	}
	if err := log.AddMembers(t.Context(), ids(10)); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.c, err = newCore(t.Context(), nil, log, 2); err != nil {
		t.Fatal(err)
	}
	f.now = 0
	f.c.Start(0)
	before := f.attempt
	f.begin()
	if f.attempt.Nonce() == old {
		t.Fatal("the attempt has its old name")
	}
	now := f.attempt
	f.attempt = before
	f.send(0, secagg.StepMask, make([]byte, 16))
	if !f.over[0] {
		t.Error("a device in the old attempt is not told that it is over")
	}
	f.attempt = now
	for _, id := range ids(10) {
		r := wire.Reply{Kind: wire.Decline, N: f.c.N + 1, Tip: f.c.Hash.Tip(),
			Reason: secagg.DeclineSpent}
		f.input(Input{Kind: InReply, ID: id, Frame: r.Append(nil)})
	}
	f.wait(f.c.round.closes - f.now)
	if r := f.record(); r.Kind != wire.KindChange {
		t.Fatalf("record %+v, want one that changes nothing", r)
	}
}

// TestMaskedAway: devices that the coordinator knows to be away take no part, and the others are
// enough.
func TestMaskedAway(t *testing.T) {
	f := newMaskedFleet(t, securePlan(t, 10), 10)
	f.c.Plan.Quorum = 3
	for _, id := range ids(10)[4:] {
		r := wire.Reply{Kind: wire.Decline, N: 1, Reason: wire.DeclineLeaving}
		f.input(Input{Kind: InReply, ID: id, Frame: r.Append(nil)})
	}
	f.wait(f.c.round.closes - f.now)
	f.begin()
	if len(f.devices) != 4 {
		t.Fatalf("%d devices take part, want the 4 that are present", len(f.devices))
	}
	f.sums(0, 1, 2, 3)
}

// TestMaskedSilent: a run whose devices become silent waits for them, and then asks all devices
// again. An attempt without the silent devices would be in vain, and they would get no message to
// answer.
func TestMaskedSilent(t *testing.T) {
	plan := securePlan(t, 10)
	plan.MaxAttempts = 1000
	f := newMaskedFleet(t, plan, 10)
	for range presence.SilentAfter {
		f.begin()
		f.step(secagg.StepKeys, 0, 1, 2, 3)
		f.wait(f.c.round.closes - f.now)
	}
	if s := &f.c.halt.shortage; !s.Waits {
		t.Fatalf("attempt %d asks the 4 that are present, quorum %d",
			f.c.cohort.Attempt.Number, plan.Quorum)
	}
	f.wait(f.c.halt.shortage.RetryAt - f.now)
	f.begin()
	if len(f.devices) != 10 {
		t.Fatalf("%d devices take part, want all", len(f.devices))
	}
	f.sums(upTo(10)...)
}

// TestMaskedVain: an attempt in which too few devices could take part loses no device, because no
// device can answer it. The next attempt asks more devices at once. If the attempt asked all
// devices, the run waits.
func TestMaskedVain(t *testing.T) {
	plan := securePlan(t, 30)
	plan.Target, plan.Quorum, plan.MaxAttempts = 10, 10, 1000
	f := newMaskedFleet(t, plan, 30)
	leave := func(ids []string) {
		for _, id := range ids {
			f.input(goodbyeOf(f.c, id))
		}
	}
	leave(ids(30)[12:])
	f.wait(f.c.round.closes - f.now)
	for range 10 { // rounds that ask 25 devices at first, of which about 10 are present
		f.begin()
		if len(f.devices) < 10 {
			t.Fatalf("attempt %d is of %d devices, quorum 10", f.c.cohort.Attempt.Number, len(f.devices))
		}
		for step := secagg.StepKeys; step < secagg.StepDone; step++ {
			for device := range f.devices {
				if !f.over[device] {
					f.step(step, device)
				}
			}
		}
		f.record()
		f.input(Input{Kind: InAppended, N: f.c.N + 1})
	}
	leave(ids(30)[9:12])
	for f.c.halt.shortage.Spells < 20 || !f.c.halt.shortage.Waits {
		f.wait(f.c.due() - f.now)
	}
	if present := f.c.cohort.Crowd.Present(); present != 9 {
		t.Fatalf("%d are present after attempts in vain, want 9", present)
	}
	f.input(joinOf(ids(30)[9]))
	f.wait(f.c.due() - f.now)
	f.begin()
	f.sums(upTo(10)...)
}

// TestMaskedFits: attempts that fail ask more and more devices, but at most as many as one round
// can have: a hundred devices that agree on lists, or 4,096 slots. Otherwise no attempt would ever
// get a sum.
func TestMaskedFits(t *testing.T) {
	plan := agreedPlan(t, 150)
	plan.Target, plan.Quorum, plan.MaxAttempts = 60, 40, 1000
	f := newMaskedFleet(t, plan, 150)
	for !f.c.halt.shortage.Waits { // until all are silent
		f.wait(f.c.round.closes - f.now)
	}
	f.wait(f.c.halt.shortage.RetryAt - f.now)
	f.begin()
	for device := range f.devices {
		f.step(secagg.StepKeys, device)
	}
	if step := f.c.policy.Steps.Step(); len(f.devices) != 100 || step != "shares" {
		t.Errorf("attempt %d asks %d devices and is in step %q, want 100 and shares",
			f.c.cohort.Attempt.Number, len(f.devices), step)
	}
	plan = securePlan(t, 5000)
	plan.Target, plan.Quorum, plan.MaxAttempts = 1000, 30, 1000
	c := newTestCore(t, plan, 5000)
	if got := c.cohort.Draw(3, c.now).Sampled; got != secagg.MostAsked {
		t.Errorf("attempt 3 asks %d of 5000 devices, want %d", got, secagg.MostAsked)
	}
	for _, id := range ids(5000)[30:] {
		c.Step(1, goodbyeOf(c, id))
	}
	for range 10 {
		before := c.cohort.Attempt.Number
		if c.Step(c.due(), Input{Kind: InTick}); c.cohort.Attempt.Number > before+1 {
			t.Fatalf("attempts %d to %d at once", before, c.cohort.Attempt.Number)
		}
	}
}

// TestMaskedSparse: a round of 150 devices, whose neighborhoods are smaller than the fleet, with
// devices lost in two steps.
func TestMaskedSparse(t *testing.T) {
	f := newMaskedFleet(t, securePlan(t, 150), 150)
	f.step(secagg.StepKeys, upTo(150)...)
	f.step(secagg.StepShares, upTo(150)[:145]...)
	f.wait(f.c.round.closes - f.now)
	f.step(secagg.StepMask, upTo(140)...)
	f.wait(f.c.round.closes - f.now)
	f.step(secagg.StepUnmask, upTo(140)...)
	f.check(upTo(140)...)
}

// TestMaskedHides: no message of a device has a word of its scalars.
func TestMaskedHides(t *testing.T) {
	f := newMaskedFleet(t, securePlan(t, 10), 10)
	f.sums(upTo(10)...)
	for device := range f.scalars {
		for i, word := range f.words(device) {
			for _, body := range f.seen {
				for at := 0; at+4 <= len(body); at += 4 {
					got := uint32(body[at]) | uint32(body[at+1])<<8 | uint32(body[at+2])<<16 |
						uint32(body[at+3])<<24
					if got == word {
						t.Errorf("word %d of device %d was sent as it is", i, device)
					}
				}
			}
		}
	}
}
