package engine

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/masked"
	"github.com/zofl/zofl/wire/secagg"
)

// A maskedFleet drives a core with devices that take the steps of secure aggregation.
type maskedFleet struct {
	t       *testing.T
	c       *Core
	now     uint64
	devices map[int]*secagg.Device
	given   map[int][]byte // the body of the last answer to a device
	over    map[int]bool   // told that the attempt is over for it
	attempt masked.Attempt
	scalars [][]float32
	rng     *rand.Rand
	seen    [][]byte // bodies that came from devices
}

func securePlan(t *testing.T, devices int) *wire.Plan {
	plan := chaintest.Plan(t)
	n := uint32(devices)
	plan.Secure, plan.MaxScalar, plan.Members, plan.Target, plan.Quorum = 1, 100, n, n, n/2+1
	plan.Perturbations, plan.MaxAttempts, plan.Deadline = 3, 3, 8000
	plan.EvalEvery, plan.EvalCount, plan.Metrics, plan.DigestEvery = 0, 0, nil, 0
	return plan
}

// agreedPlan is a secure plan of which the devices agree on lists.
func agreedPlan(t *testing.T, devices int) *wire.Plan {
	plan := securePlan(t, devices)
	plan.SetSecret(theSecret)
	plan.SecureLists = 1
	return plan
}

// theSecret is that of the devices.
var theSecret = []byte("32 bytes that only devices have.")

// stepsOf returns the steps of a plan's rounds, in their order.
func stepsOf(plan *wire.Plan) []secagg.Step {
	steps := []secagg.Step{secagg.StepKeys, secagg.StepShares, secagg.StepMask}
	if plan.SecureLists > 0 {
		steps = append(steps, secagg.StepAgree)
	}
	return append(steps, secagg.StepUnmask)
}

func newMaskedFleet(t *testing.T, plan *wire.Plan, devices int) *maskedFleet {
	f := &maskedFleet{t: t, c: newTestCore(t, plan, devices), rng: rand.New(rand.NewPCG(1, 2))}
	for range devices {
		var g []float32
		for range plan.Perturbations {
			g = append(g, float32(f.rng.NormFloat64()))
		}
		f.scalars = append(f.scalars, g)
	}
	f.begin()
	return f
}

// begin makes keys for the open attempt.
func (f *maskedFleet) begin() {
	f.t.Helper()
	c := f.c
	if c.phase != collecting {
		f.t.Fatalf("phase %d, want an open round", c.phase)
	}
	head := c.head()
	head.Rest = c.asking(head.Rest)
	f.attempt = masked.Of(c.Plan.Run, &head, c.Hash.Tip(), int(c.Plan.Perturbations))
	f.devices, f.given, f.over = map[int]*secagg.Device{}, map[int][]byte{}, map[int]bool{}
	round := f.attempt.Round(&c.Plan)
	for _, slot := range round.Members {
		d, err := secagg.NewDevice(round, slot, rand.NewChaCha8([32]byte{byte(f.rng.Uint32()),
			byte(slot), byte(slot >> 8), byte(head.Attempt), byte(c.epoch)}), theSecret)
		if err != nil {
			f.t.Fatal(err)
		}
		f.devices[int(slot)] = d
	}
}

// words codes a device's scalars, and a loss of its number.
func (f *maskedFleet) words(device int) (words []uint32) {
	scalars, loss := masked.Codings(&f.c.Plan, len(f.devices))
	for _, g := range f.scalars[device] {
		word, _, err := scalars.Word(g, 1)
		if err != nil {
			f.t.Fatal(err)
		}
		words = append(words, word)
	}
	word, _, _ := loss.Word(float32(device), 1)
	return append(words, word)
}

// body returns what a device answers to a step.
func (f *maskedFleet) body(step secagg.Step, device int) []byte {
	f.t.Helper()
	d, b, err := f.devices[device], []byte(nil), error(nil)
	switch step {
	case secagg.StepKeys:
		b = d.Keys()
	case secagg.StepShares:
		b, err = d.Shares(f.given[device])
	case secagg.StepMask:
		b, err = d.Mask(f.given[device], f.words(device))
	case secagg.StepAgree:
		b, err = d.Agree(f.given[device])
	case secagg.StepUnmask:
		b, err = d.Unmask(f.given[device])
	}
	if err != nil {
		f.t.Fatalf("device %d, step %v: %v", device, step, err)
	}
	return b
}

// step sends what devices answer to a step.
func (f *maskedFleet) step(step secagg.Step, devices ...int) {
	f.t.Helper()
	for _, device := range devices {
		body := f.body(step, device)
		f.seen = append(f.seen, body)
		f.send(device, step, body)
	}
}

func (f *maskedFleet) send(device int, step secagg.Step, body []byte) {
	f.t.Helper()
	r := masked.Request{N: f.attempt.N, Nonce: f.attempt.Nonce(), Step: step, Body: body}
	f.input(Input{Kind: InStep, ID: ids(len(f.scalars))[device], Frame: r.Append(nil),
		Token: fmt.Sprint("to.", device)})
}

// input steps the core, and takes the answers.
func (f *maskedFleet) input(in Input) {
	f.t.Helper()
	for _, o := range f.c.Step(f.now, in) {
		var device int
		if o.Kind != OutRespond {
			continue
		}
		if _, err := fmt.Sscanf(o.Token, "to.%d", &device); err != nil {
			continue
		}
		a, err := masked.DecodeAnswer(o.Frame)
		if err != nil {
			f.t.Fatal(err)
		}
		f.given[device], f.over[device] = a.Body, a.State == masked.Over
	}
}

// wait lets time pass, in milliseconds.
func (f *maskedFleet) wait(ms uint64) {
	f.t.Helper()
	f.now += ms
	f.input(Input{Kind: InTick})
}

// record returns the record that is being appended.
func (f *maskedFleet) record() *wire.Record {
	f.t.Helper()
	if f.c.phase != appending {
		f.t.Fatalf("phase %d, want a record; %s", f.c.phase, f.c.shortfall())
	}
	r, err := wire.DecodeRecord(f.c.pending)
	if err != nil {
		f.t.Fatal(err)
	}
	return &r
}

// check compares the record with the mean of some devices' scalars, in float64.
func (f *maskedFleet) check(devices ...int) {
	f.t.Helper()
	body := f.record().Round
	if body == nil || int(body.Contributors) != len(devices) {
		f.t.Fatalf("record %+v, want a round of %d", f.record(), len(devices))
	}
	coding, _ := masked.Codings(&f.c.Plan, len(f.devices))
	for i := range f.scalars[0] {
		sum, exact := uint32(0), 0.0
		for _, d := range devices {
			sum += f.words(d)[i]
			exact += float64(f.scalars[d][i])
		}
		got, count := body.Terms[0].Scalars.At(i), float64(len(devices))
		if want := float32(coding.Sum(sum) / count); got != want {
			f.t.Errorf("scalar %d is %v, want %v bit for bit", i, got, want)
		}
		if far := math.Abs(float64(got) - exact/count); far > coding.Error(1)+1e-6 {
			f.t.Errorf("scalar %d is %v, the mean %v: %v apart", i, got, exact/count, far)
		}
	}
	loss := 0.0
	for _, d := range devices {
		loss += float64(d) / float64(len(devices))
	}
	if got := f.c.closed.Loss; math.Abs(float64(got)-loss) > 1e-3 {
		f.t.Errorf("loss %v, want %v", got, loss)
	}
}

// upTo returns 0..n-1.
func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// TestMaskedDropouts: whoever leaves in whatever step, the record has the mean of those whose
// masked scalars came, bit for bit that of their words.
func TestMaskedDropouts(t *testing.T) {
	for _, plan := range []*wire.Plan{securePlan(t, 10), agreedPlan(t, 10)} {
		for _, at := range append(stepsOf(plan), secagg.StepDone) {
			dropThree(t, plan, at)
		}
	}
}

// dropThree leads a round of ten devices, three of which leave before they answer a step.
func dropThree(t *testing.T, plan *wire.Plan, at secagg.Step) {
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
			if f.c.phase == appending || f.given[there[0]] != nil && step == secagg.StepKeys {
				t.Fatalf("lost in %v: the step closed before its end", at)
			}
			f.wait(f.c.round.closes - f.now)
		}
	}
	f.check(summed...)
}

// TestMaskedBelowThreshold: an attempt that loses too many is begun anew with other keys. One that
// was to be unmasked is not: its record's index is passed over.
func TestMaskedBelowThreshold(t *testing.T) {
	for _, plan := range []func(*testing.T, int) *wire.Plan{securePlan, agreedPlan} {
		for last := range stepsOf(plan(t, 10)) {
			loseFive(t, plan(t, 10), last)
		}
	}
}

// loseFive leads a round of ten devices, five of which leave before they answer a step, and the
// next one with all.
func loseFive(t *testing.T, plan *wire.Plan, last int) {
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

// TestMaskedFrames: what is repeated gets the same answer; what is garbled, foreign or of another
// attempt changes nothing.
func TestMaskedFrames(t *testing.T) {
	for _, plan := range []*wire.Plan{securePlan(t, 10), agreedPlan(t, 10)} {
		hostileFrames(t, plan)
	}
}

func hostileFrames(t *testing.T, plan *wire.Plan) {
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

func (f *maskedFleet) requestOf(step secagg.Step) []byte {
	r := masked.Request{N: f.attempt.N, Nonce: f.attempt.Nonce(), Step: step, Body: make([]byte, 96)}
	return r.Append(nil)
}

// TestMaskedRestart: a coordinator that restarts in any step begins the attempt anew. Devices that
// unmasked the record before decline it, and its index is passed over.
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
			Reason: masked.DeclineSpent}
		f.input(Input{Kind: InReply, ID: id, Frame: r.Append(nil)})
	}
	f.wait(f.c.round.closes - f.now)
	if r := f.record(); r.Kind != wire.KindChange {
		t.Fatalf("record %+v, want one that changes nothing", r)
	}
}

// TestMaskedAway: devices that are known to be away take no part, and the others are enough.
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
	for step := secagg.StepKeys; step < secagg.StepDone; step++ {
		f.step(step, 0, 1, 2, 3)
	}
	f.check(0, 1, 2, 3)
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

// TestMaskedHides: nothing that devices send has a word of a device's scalars.
func TestMaskedHides(t *testing.T) {
	f := newMaskedFleet(t, securePlan(t, 10), 10)
	for step := secagg.StepKeys; step < secagg.StepDone; step++ {
		f.step(step, upTo(10)...)
	}
	f.check(upTo(10)...)
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
