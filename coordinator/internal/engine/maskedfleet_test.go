package engine

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/stats"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/secagg"
	"github.com/zofl/zofl/wire/survey"
)

// A maskedFleet drives a core with devices that take the steps of secure aggregation.
type maskedFleet struct {
	t       *testing.T
	c       *Core
	now     uint64
	devices map[int]*secagg.Device
	random  map[int][]byte // from which a device's keys derive
	other   map[uint32]int // devices with another secret, that lacks so many bytes
	given   map[int][]byte // the body of the last answer to a device
	over    map[int]bool   // told that the attempt is over for it
	attempt secagg.Attempt
	scalars [][]float32
	rng     *rand.Rand
	seen    [][]byte // bodies that came from devices
}

func securePlan(t *testing.T, devices int) *plan.Plan {
	plan := chaintest.Plan(t)
	n := uint32(devices)
	plan.Secure, plan.MaxScalar, plan.Members, plan.Target, plan.Quorum = 1, 100, n, n, n/2+1
	plan.Perturbations, plan.MaxAttempts, plan.Deadline = 3, 3, 8000
	plan.EvalEvery, plan.EvalCount, plan.Metrics, plan.DigestEvery = 0, 0, nil, 0
	return plan
}

// agreedPlan is a secure plan of which the devices agree on lists.
func agreedPlan(t *testing.T, devices int) *plan.Plan {
	plan := securePlan(t, devices)
	plan.SetSecret(theSecret)
	plan.SecureLists = 1
	return plan
}

// theSecret is that of the devices.
var theSecret = []byte("32 bytes that only devices have.")

// stepsOf returns the steps of a plan's rounds, in their order.
func stepsOf(plan *plan.Plan) []secagg.Step {
	steps := []secagg.Step{secagg.StepKeys, secagg.StepShares, secagg.StepMask}
	if plan.SecureLists > 0 {
		steps = append(steps, secagg.StepAgree)
	}
	return append(steps, secagg.StepUnmask)
}

func newMaskedFleet(t *testing.T, plan *plan.Plan, devices int) *maskedFleet {
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
	if c.phase() != collecting {
		f.t.Fatalf("phase %d, want an open round", c.phase())
	}
	head := c.head()
	head.Rest = c.asking(head.Rest)
	f.attempt = secagg.Of(c.Plan.Run, &head, c.Hash.Tip(), c.round.scalars)
	f.devices, f.given, f.over = map[int]*secagg.Device{}, map[int][]byte{}, map[int]bool{}
	f.random = map[int][]byte{}
	round := f.attempt.Round(&c.Plan)
	for _, slot := range round.Members {
		random := [32]byte{byte(f.rng.Uint32()), byte(slot), byte(slot >> 8), byte(head.Attempt),
			byte(c.life.epoch)}
		_, _ = rand.NewChaCha8(random).Read(random[:])
		d, err := secagg.NewDevice(round, slot, bytes.NewReader(random[:]),
			theSecret[f.other[slot]:])
		if err != nil {
			f.t.Fatal(err)
		}
		f.devices[int(slot)], f.random[int(slot)] = d, random[:]
	}
}

// words codes a device's scalars, and a loss of its number.
func (f *maskedFleet) words(device int) (words []uint32) {
	if f.c.round.survey == survey.Columns {
		words, err := stats.AppendWords(nil, stats.Of([][]float32{{float32(device), 7}}))
		if err != nil {
			f.t.Fatal(err)
		}
		return append(words, 0)
	}
	scalars, loss := secagg.Codings(&f.c.Plan, len(f.devices))
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
	b, err := f.answer(step, device)
	if err != nil {
		f.t.Fatalf("device %d, step %v: %v", device, step, err)
	}
	return b
}

func (f *maskedFleet) answer(step secagg.Step, device int) ([]byte, error) {
	switch d, given := f.devices[device], f.given[device]; step {
	case secagg.StepShares:
		return d.Shares(given)
	case secagg.StepMask:
		return d.Mask(given, f.words(device))
	case secagg.StepAgree:
		return d.Agree(given)
	case secagg.StepUnmask:
		return d.Unmask(given)
	default:
		return d.Keys(), nil
	}
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

// sums has devices take all steps of an attempt, and checks the record.
func (f *maskedFleet) sums(devices ...int) {
	f.t.Helper()
	for step := secagg.StepKeys; step < secagg.StepDone; step++ {
		f.step(step, devices...)
	}
	f.check(devices...)
}

func (f *maskedFleet) send(device int, step secagg.Step, body []byte) {
	f.t.Helper()
	f.request(device, secagg.Request{Step: step, Body: body})
}

// request sends a device's request for the open attempt.
func (f *maskedFleet) request(device int, r secagg.Request) {
	f.t.Helper()
	r.N, r.Nonce = f.attempt.N, f.attempt.Nonce()
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
		a, err := secagg.DecodeAnswer(o.Frame)
		if err != nil {
			f.t.Fatal(err)
		}
		f.given[device], f.over[device] = a.Body, a.State == secagg.Over
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
	if f.c.phase() != appending {
		f.t.Fatalf("phase %d, want a record; %s", f.c.phase(), f.c.shortfall())
	}
	r, err := wire.DecodeRecord(f.c.next.frame)
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
	coding, _ := secagg.Codings(&f.c.Plan, len(f.devices))
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
	if got := f.c.next.event.Loss; math.Abs(float64(got)-loss) > 1e-3 {
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

func (f *maskedFleet) requestOf(step secagg.Step) []byte {
	r := secagg.Request{N: f.attempt.N, Nonce: f.attempt.Nonce(), Step: step, Body: make([]byte, 96)}
	return r.Append(nil)
}
