package secagg_test

import (
	"bytes"
	"encoding/hex"
	"math"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/secagg"
	"github.com/zofl/zofl/wire/survey"
)

// TestFrames compares frames with fixed bytes, because other versions read the frames.
func TestFrames(t *testing.T) {
	nonce := [secagg.NonceLen]byte{1, 2, 3, 4, 5, 6, 7, 8}
	r := secagg.Request{N: 9, Nonce: nonce, Step: secagg.StepMask, Body: []byte{0xaa, 0xbb}}
	a := secagg.Answer{N: 9, Nonce: nonce, Step: secagg.StepKeys, State: secagg.Next, Body: []byte{1}}
	for want, got := range map[string][]byte{
		"950109c408010203040506070803c402aabb": r.Append(nil),
		"960109c40801020304050607080101c40101": a.Append(nil),
		"909090" + "91c40105":                  secagg.Tail(nil, []byte{5}),
		"90" + "91c40107" + "90" + "91c40105":  secagg.Tail(tail(t, 7), []byte{5}),
		"90" + "91c40107":                      secagg.Tail(tail(t, 7), nil),
		hex.EncodeToString(survey.Ask(nil, 2)): survey.Ask(nil, 2),
		"9090" + "9102" + "91c40105":           secagg.Tail(survey.Ask(nil, 2), []byte{5}),
	} {
		if hex.EncodeToString(got) != want {
			t.Errorf("got %x, want %s", got, want)
		}
	}
	rest := append(r.Append(nil), 0xc0)
	if got, err := secagg.DecodeRequest(rest); err != nil || got.N != 9 || got.Nonce != nonce ||
		got.Step != secagg.StepMask || !bytes.Equal(got.Body, r.Body) || len(got.Rest) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := secagg.DecodeAnswer(a.Append(nil)); err != nil || got.State != secagg.Next ||
		got.Step != secagg.StepKeys || !bytes.Equal(got.Body, a.Body) {
		t.Errorf("%+v, %v", got, err)
	}
	if out := secagg.OutOf(secagg.Tail(tail(t, 7), []byte{5})); !bytes.Equal(out, []byte{5}) {
		t.Errorf("out %x", out)
	}
	if out := secagg.OutOf(tail(t, 7)); out != nil {
		t.Errorf("out %x, want none", out)
	}
}

// TestSteps: every step has its number in frames, and no frame can have StepDone.
func TestSteps(t *testing.T) {
	for step, number := range map[secagg.Step]byte{secagg.StepKeys: 1, secagg.StepShares: 2,
		secagg.StepMask: 3, secagg.StepUnmask: 4, secagg.StepAgree: 6} {
		r := secagg.Request{N: 9, Step: step}
		b := r.Append(nil)
		got, err := secagg.DecodeRequest(b)
		if err != nil || got.Step != step || b[13] != number {
			t.Errorf("%v: %x, read as %v, %v", step, b, got.Step, err)
		}
	}
	r := secagg.Request{N: 9, Step: secagg.StepDone}
	if _, err := secagg.DecodeRequest(r.Append(nil)); err == nil {
		t.Error("a request after the last step is read")
	}
}

func tail(t *testing.T, slot uint32) []byte {
	t.Helper()
	m, ok := wire.MissingOf([]uint32{slot})
	if !ok {
		t.Fatal("a slot that cannot be named")
	}
	return wire.Tail(wire.Reference{}, m, true)
}

// TestAttempt: devices that are out are no members of the round, and a change of any part of an
// attempt's name gives another nonce.
func TestAttempt(t *testing.T) {
	a := secagg.Attempt{Run: "r", N: 4, Tip: wire.Tip{1}, Epoch: 2, Number: 1, Words: 3,
		Cohort: wire.Cohort{Sampled: 20, Members: 20}}
	a.Leave(func(slot uint32) bool { return slot == 3 || slot == 12 })
	round := a.Round(&plan.Plan{})
	if len(round.Members) != 18 || len(a.Out) != 2 || round.Members[3] != 4 || round.Words != 3 {
		t.Errorf("%+v, out %x", round, a.Out)
	}
	for i, change := range []func(*secagg.Attempt){
		func(a *secagg.Attempt) { a.Run = "s" }, func(a *secagg.Attempt) { a.N++ },
		func(a *secagg.Attempt) { a.Tip[0]++ }, func(a *secagg.Attempt) { a.Epoch++ },
		func(a *secagg.Attempt) { a.Number++ },
	} {
		b := a
		if change(&b); b.Nonce() == a.Nonce() {
			t.Errorf("change %d: another attempt has the same name", i)
		}
	}
	a.Cohort = wire.Cohort{Sampled: secagg.MostAsked + 1, Members: 1 << 20}
	if slots := a.Slots(); slots != nil {
		t.Errorf("%d slots", len(slots))
	}
}

// TestThresholdOfQuorum: the threshold is at least the graph's threshold, and where all devices are
// neighbors at least the quorum.
func TestThresholdOfQuorum(t *testing.T) {
	for _, c := range []struct {
		devices int
		quorum  uint32
		want    int
	}{{10, 8, 8}, {10, 3, 6}, {5, 9, 5}, {100, 100, 100}, {1000, 900, 59}} {
		if got := secagg.Threshold(c.devices, c.quorum); got != c.want {
			t.Errorf("%d devices, quorum %d: threshold %d, want %d", c.devices, c.quorum, got, c.want)
		}
	}
}

// TestRange: Range follows from the fields of the plan.
func TestRange(t *testing.T) {
	p := &plan.Plan{AggregateFields: plan.AggregateFields{MaxScalar: 100}}
	if r := secagg.Range(p); r != 100 {
		t.Errorf("range %v", r)
	}
	p.DPClip, p.DPNoise = 2, 0.5
	if r := secagg.Range(p); r != 10 {
		t.Errorf("with noise: range %v, want 2 and 8 times 1", r)
	}
	if p.DPOf, p.Quorum = 1, 16; secagg.Range(p) != 4 {
		t.Errorf("with a share of noise: range %v, want 2 and 8 times 0.25", secagg.Range(p))
	}
	if p.SecureRange = 7; secagg.Range(p) != 7 {
		t.Errorf("range %v", secagg.Range(p))
	}
	if p.SecureRange = 700; secagg.Range(p) != 100 {
		t.Errorf("range %v", secagg.Range(p))
	}
}

// FuzzFrames: decoders panic for no bytes, and a decoded frame encodes to the same bytes.
func FuzzFrames(f *testing.F) {
	r := secagg.Request{N: 9, Step: secagg.StepMask, Body: []byte{0xaa}}
	a := secagg.Answer{N: math.MaxInt64, State: secagg.Over}
	f.Add(r.Append(nil))
	f.Add(a.Append(nil))
	f.Add(secagg.Tail(nil, []byte{5}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := secagg.DecodeRequest(b); err == nil && !bytes.Equal(r.Append(nil), b) {
			t.Errorf("request %x became %x", b, r.Append(nil))
		}
		if a, err := secagg.DecodeAnswer(b); err == nil && !bytes.Equal(a.Append(nil), b) {
			t.Errorf("answer %x became %x", b, a.Append(nil))
		}
		secagg.OutOf(b)
		if len(b) < 4096 {
			secagg.Tail(b, []byte{1})
		}
	})
}
