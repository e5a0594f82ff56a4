package secagg

import (
	"math"

	"github.com/zofl/zofl/internal/codec"
	"github.com/zofl/zofl/wire"
)

// NonceLen is the length of an attempt's short name, [Attempt.Nonce].
const NonceLen = 8

// A State says whether a step is over for the device that answered it.
type State uint8

const (
	// Next: the step is over, and Body holds what the device needs for the next one.
	Next State = 1
	// Over: the attempt is over, or the device is out of the attempt. The next announcement says how
	// the run goes on.
	Over State = 2
)

// A Request carries a device's answer to a step.
type Request struct {
	N     uint64
	Nonce [NonceLen]byte
	Step  Step
	Body  []byte // see package secagg
	Rest  []byte // [Refusal], and fields of later versions
}

// Refusal returns the rest of a request by which a device says that the keys, box or tag of some
// members are false: the array of their slots, ascending. With an empty body, the device cannot
// answer the step for that reason.
func Refusal(slots []uint32) []byte {
	if len(slots) == 0 {
		return nil
	}
	b := codec.AppendArray(nil, len(slots))
	for _, slot := range slots {
		b = codec.AppendUint(b, uint64(slot))
	}
	return b
}

// Refuses returns the slots that a request refuses, ascending, or nil. Bytes that Refuses cannot
// read belong to a later version.
func (r *Request) Refuses() (slots []uint32) {
	if len(r.Rest) == 0 {
		return nil
	}
	d := codec.NewReader("step", r.Rest)
	for range d.Array("refusal", MostAsked, 1) {
		slot := uint32(d.Uint("slot", math.MaxUint32))
		if n := len(slots); n > 0 && slot <= slots[n-1] {
			return nil
		}
		slots = append(slots, slot)
	}
	if !d.OK() {
		return nil
	}
	return slots
}

// Append appends the encoding of r to b: the array [version, n, nonce, step, body], then Rest. In
// frames the steps keys, shares, mask and unmask have the numbers 1 to 4, and agree has the number
// 6.
func (r *Request) Append(b []byte) []byte {
	b = codec.AppendUint(append(codec.AppendArray(b, 5), wire.FrameVersion), r.N)
	b = codec.AppendBin(b, r.Nonce[:])
	b = codec.AppendBin(codec.AppendUint(b, uint64(r.Step)+1), r.Body)
	return append(b, r.Rest...)
}

// DecodeRequest reads a request without allocating; Body and Rest alias b. The error is a
// [*wire.DecodeError].
func DecodeRequest(b []byte) (Request, error) {
	d := reader(b, "step", 5)
	var r Request
	r.N = d.Uint("n", math.MaxInt64)
	d.Positive("n", r.N)
	readNonce(&d, &r.Nonce)
	r.Step = readStep(&d)
	r.Body = d.Bin("body", wire.MaxFrame)
	r.Rest = d.Rest()
	if err := faultOf(&d); err != nil {
		return Request{}, err
	}
	return r, nil
}

// An Answer is the coordinator's answer to a [Request].
type Answer struct {
	N     uint64
	Nonce [NonceLen]byte
	Step  Step // of the request
	State State
	Body  []byte // with Next: what the next step needs; empty after the last step
	Rest  []byte
}

// Append appends the encoding of a to b: the array [version, n, nonce, step, state, body], then
// Rest.
func (a *Answer) Append(b []byte) []byte {
	b = codec.AppendUint(append(codec.AppendArray(b, 6), wire.FrameVersion), a.N)
	b = codec.AppendBin(b, a.Nonce[:])
	b = codec.AppendUint(codec.AppendUint(b, uint64(a.Step)+1), uint64(a.State))
	return append(codec.AppendBin(b, a.Body), a.Rest...)
}

// DecodeAnswer reads an answer; Body and Rest alias b. The error is a [*wire.DecodeError].
func DecodeAnswer(b []byte) (Answer, error) {
	d := reader(b, "step's answer", 6)
	var a Answer
	a.N = d.Uint("n", math.MaxInt64)
	readNonce(&d, &a.Nonce)
	a.Step = readStep(&d)
	a.State = State(d.Known("state", uint64(Over)))
	d.Positive("state", uint64(a.State))
	a.Body = d.Bin("body", wire.MaxFrame)
	a.Rest = d.Rest()
	if err := faultOf(&d); err != nil {
		return Answer{}, err
	}
	return a, nil
}

func reader(b []byte, frame string, fields int) codec.Reader {
	d := codec.NewReader(frame, b)
	if len(b) > wire.MaxFrame {
		d.Fail(frame, wire.ErrLimit)
	}
	d.Head(wire.FrameVersion, fields)
	return d
}

func readStep(d *codec.Reader) Step {
	number := d.Known("step", uint64(StepAgree)+1)
	d.Positive("step", number)
	step := Step(number - 1)
	if d.OK() && step == StepDone { // no frame belongs to StepDone
		d.Fail("step", wire.ErrForm)
	}
	return step
}

func readNonce(d *codec.Reader, nonce *[NonceLen]byte) {
	b := d.Bin("nonce", NonceLen)
	if d.OK() && len(b) != NonceLen {
		d.Fail("nonce", wire.ErrForm)
	}
	copy(nonce[:], b)
}

func faultOf(d *codec.Reader) error {
	frame, field, err := d.Fault()
	if err == nil {
		return nil
	}
	return &wire.DecodeError{Frame: frame, Field: field, Err: err}
}
