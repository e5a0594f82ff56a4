package secagg_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/zofl/zofl/internal/secaggtest"
	"github.com/zofl/zofl/wire/secagg"
)

// A dealing says what one device of a round does: it deals false shares to some, and answers the
// last step or does not.
type dealing struct {
	to     []uint32
	silent bool
}

// dealt runs a round of n devices, in which slot 4 deals falsely, until the last step is open.
func dealt(t *testing.T, r secagg.Round, d dealing) *fleet {
	t.Helper()
	f := newFleet(t, r, 9)
	random := make([]byte, 32)
	if _, err := io.ReadFull(chance(5), random); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.devices[4], err = secagg.NewDevice(r, 4, bytes.NewReader(random), secret); err != nil {
		t.Fatal(err)
	}
	for f.server.Step() != secagg.StepUnmask {
		if f.server.Step() == secagg.StepShares {
			given := f.server.Give(4)
			boxes, err := f.answer(4)
			for _, to := range d.to {
				if err == nil {
					boxes, err = secaggtest.FalseShare(r, random, 4, to, given, boxes)
				}
			}
			if err = errors.Join(err, f.server.Take(secagg.StepShares, 4, boxes)); err != nil {
				t.Fatal(err)
			}
			for _, slot := range f.server.Missing() {
				b, err := f.answer(slot)
				if err = errors.Join(err, f.server.Take(secagg.StepShares, slot, b)); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.server.Close(); err != nil {
				t.Fatal(err)
			}
		} else if err := f.step(nil); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// TestFalseDealer: one of seven devices deals false shares, which open. The last step has not
// enough answers while the shares in them do not fit. With more shares the sum is exact, or the
// faults name the dealer.
func TestFalseDealer(t *testing.T) {
	all := []uint32{1, 7, 10, 13, 16, 19}
	for _, c := range []struct {
		what      string
		dealing   dealing
		threshold int
		after     int // answers after which there is a sum; 0: there is none
		faults    []secagg.Fault
	}{
		{"to one", dealing{to: all[:1]}, 6, 7, []secagg.Fault{{4, all[:1]}}},
		{"to the last", dealing{to: all[5:]}, 6, 6, nil}, // his share is not needed
		{"to one of many", dealing{to: all[1:2]}, 4, 5, []secagg.Fault{{4, all[1:2]}}},
		{"to two", dealing{to: all[:2]}, 4, 6, []secagg.Fault{{4, all[:1]}, {4, all[1:2]}}},
		{"to one, and does not answer", dealing{to: all[:1], silent: true}, 6, 0,
			[]secagg.Fault{{4, all}}},
		{"to all", dealing{to: all}, 6, 0, []secagg.Fault{{Owner: 4}}},
		{"to all, and does not answer", dealing{to: all, silent: true}, 5, 0,
			[]secagg.Fault{{Owner: 4}}},
	} {
		r := roundOf(7, 3)
		r.Threshold = c.threshold
		f := dealt(t, r, c.dealing)
		answers, after := 0, 0
		for _, slot := range []uint32{1, 4, 7, 10, 13, 16, 19} {
			if slot == 4 && c.dealing.silent {
				continue
			}
			b, err := f.answer(slot)
			if err = errors.Join(err, f.server.Take(secagg.StepUnmask, slot, b)); err != nil {
				t.Fatal(err)
			}
			if answers++; after == 0 && f.server.Enough() {
				after = answers
			}
		}
		if after != c.after {
			t.Errorf("%s: a sum after %d answers, want %d", c.what, after, c.after)
		}
		switch err := f.server.Close(); {
		case c.after > 0 && err == nil:
			f.wantSum(r.Members)
		case c.after > 0:
			t.Errorf("%s: %v", c.what, err)
		default:
			wantBlame(t, c.what, err, 4, secagg.ErrForeign)
		}
		if got := f.server.Faults(); !slices.EqualFunc(got, c.faults, sameFault) {
			t.Errorf("%s: faults %v, want %v", c.what, got, c.faults)
		}
	}
}

// TestFalseAnswers: devices answer the last step falsely. One of seven is found at once, two of ten
// wherever they are. If more lie together there is no sum, and no fault names an honest device.
func TestFalseAnswers(t *testing.T) {
	for _, c := range []struct {
		n      int
		liars  []uint32
		alone  bool // the liar itself is the only one in a fault without others
		solved bool
	}{
		{7, []uint32{1}, true, true}, {7, []uint32{10}, true, true}, {10, []uint32{1, 16}, true, true},
		{10, []uint32{4, 13}, true, true}, {10, []uint32{1, 7, 13, 19, 25}, false, false},
	} {
		f := at(t, c.n, secagg.StepUnmask)
		f.lie(c.liars...)
		if solved := f.server.Enough(); solved != c.solved {
			t.Fatalf("%v of %d: enough is %v", c.liars, c.n, solved)
		}
		if err := f.server.Close(); (err == nil) != c.solved {
			t.Fatalf("%v of %d: %v", c.liars, c.n, err)
		}
		if c.solved {
			f.wantSum(f.round.Members)
		}
		alone := false
		for _, fault := range f.server.Faults() {
			if len(fault.By) > 1 {
				continue
			}
			alone = alone || len(fault.By) == 0
			if !slices.Contains(c.liars, fault.Owner) && (len(fault.By) == 0 ||
				!slices.Contains(c.liars, fault.By[0])) {
				t.Errorf("%v of %d lie: %v blames the honest", c.liars, c.n, fault)
			}
		}
		if alone != c.alone {
			t.Errorf("%v of %d lie: faults %v", c.liars, c.n, f.server.Faults())
		}
	}
}

// TestFalseAnswerFirst: the false answer of the last slot is the first one. With as few answers as
// the threshold no secret fits; with one more those of all other slots do. The liar is named all
// the same.
func TestFalseAnswerFirst(t *testing.T) {
	const liar = 19
	f := at(t, 7, secagg.StepUnmask)
	for i, slot := range append([]uint32{liar}, f.round.Members[:4]...) {
		b, err := f.answer(slot)
		if err != nil {
			t.Fatal(err)
		}
		if slot == liar {
			for j := range b {
				b[j]++
			}
		}
		if err := f.server.Take(secagg.StepUnmask, slot, b); err != nil {
			t.Fatal(err)
		}
		if enough := f.server.Enough(); enough != (i == 4) {
			t.Fatalf("enough after %d answers: %v", i+1, enough)
		}
	}
	if err := f.server.Close(); err != nil {
		t.Fatal(err)
	}
	f.wantSum(f.round.Members)
	named := func(fault secagg.Fault) bool { return fault.Owner == liar && len(fault.By) == 0 }
	if got := f.server.Faults(); !slices.ContainsFunc(got, named) {
		t.Errorf("faults %v, want one of %d alone", got, liar)
	}
}

func sameFault(a, b secagg.Fault) bool { return a.Owner == b.Owner && slices.Equal(a.By, b.By) }

// TestRefuse: a device says once, in a step in which it got something from the others, whose keys,
// box or tag are false.
func TestRefuse(t *testing.T) {
	f := atAgreed(t, 4, secagg.StepShares, nil)
	answered, err := f.answer(4)
	if err = errors.Join(err, f.server.Take(secagg.StepShares, 4, answered)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what         string
		step         secagg.Step
		slot, refuse uint32
		quits        bool
		kind         error
	}{
		{"a later step", secagg.StepMask, 1, 7, true, secagg.ErrStep},
		{"and goes on", secagg.StepShares, 1, 7, false, secagg.ErrStep},
		{"a stranger", secagg.StepShares, 5, 7, true, secagg.ErrForeign},
		{"of a stranger", secagg.StepShares, 1, 5, true, secagg.ErrForeign},
		{"of itself", secagg.StepShares, 1, 1, true, secagg.ErrForeign},
		{"after an answer", secagg.StepShares, 4, 7, true, secagg.ErrConflict},
	} {
		wantBlame(t, c.what, f.server.Refuse(c.step, c.slot, []uint32{c.refuse}, c.quits), c.slot,
			c.kind)
	}
	for range 2 {
		if err := f.server.Refuse(secagg.StepShares, 1, []uint32{7}, true); err != nil {
			t.Fatal(err)
		}
	}
	b, err := f.answer(1)
	if err != nil {
		t.Fatal(err)
	}
	wantBlame(t, "an answer after that", f.server.Take(secagg.StepShares, 1, b), 1,
		secagg.ErrConflict)
	wantFaults(t, "one refuses, one accepts", f, secagg.Fault{Owner: 7, By: []uint32{1}})
	if err := f.step(map[uint32]bool{1: true}); err != nil {
		t.Fatal(err)
	}
	wantFaults(t, "one refuses, two accept", f, secagg.Fault{Owner: 1})
	if dropped := f.server.Dropped(); !slices.Equal(dropped, []uint32{1}) {
		t.Errorf("%v are out, want 1", dropped)
	}
	first := newFleet(t, roundOf(4, 1), 1)
	wantBlame(t, "keys", first.server.Refuse(secagg.StepKeys, 1, []uint32{4}, true), 1,
		secagg.ErrStep)
	most := at(t, 5, secagg.StepShares)
	for _, slot := range []uint32{1, 7, 10} {
		if err := most.server.Refuse(secagg.StepShares, slot, []uint32{4}, true); err != nil {
			t.Fatal(err)
		}
	}
	wantFaults(t, "three refuse", most, secagg.Fault{Owner: 4}, secagg.Fault{Owner: 4},
		secagg.Fault{Owner: 4})
}

func wantFaults(t *testing.T, what string, f *fleet, want ...secagg.Fault) {
	t.Helper()
	if got := f.server.Faults(); !slices.EqualFunc(got, want, sameFault) {
		t.Errorf("%s: faults %v, want %v", what, got, want)
	}
}

// TestBoxes: boxes of slot 4 do not open. A device goes on without a few of its shares, and says
// so. The sum is exact while the threshold has shares of slot 4, and otherwise the round ends
// before any device unmasks.
func TestBoxes(t *testing.T) {
	others := []uint32{1, 7, 10, 13, 16}
	for bad := range len(others) + 1 {
		r := roundOf(6, 3)
		r.Threshold = 4
		f := newFleet(t, r, 9)
		for f.server.Step() != secagg.StepMask {
			for _, slot := range f.server.Missing() {
				b, err := f.answer(slot)
				if f.server.Step() == secagg.StepShares && slot == 4 {
					for i := range bad {
						b = flip(b, 80*i)
					}
				}
				if err = errors.Join(err, f.server.Take(f.server.Step(), slot, b)); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.server.Close(); err != nil {
				t.Fatal(err)
			}
		}
		var want []secagg.Fault
		for i, slot := range r.Members {
			b, err := f.answer(slot)
			refused := f.devices[slot].Refused()
			if slices.Contains(others[:bad], slot) {
				want = append(want, secagg.Fault{Owner: 4, By: []uint32{slot}})
				if len(refused) != 1 || refused[0] != 4 {
					t.Fatalf("slot %d refuses %v", slot, refused)
				}
				err = errors.Join(err, f.server.Refuse(secagg.StepMask, slot, refused, false))
			} else if len(refused) > 0 {
				t.Errorf("slot %d refuses %v", slot, refused)
			}
			if err = errors.Join(err, f.server.Take(secagg.StepMask, slot, b)); err != nil {
				t.Fatalf("member %d: %v", i, err)
			}
		}
		wantFaults(t, "boxes", f, want...)
		if left := 6 - bad; left < r.Threshold {
			if err := f.server.Close(); f.server.Enough() || !errors.Is(err, secagg.ErrThreshold) {
				t.Errorf("%d boxes: %v", bad, err)
			}
			continue
		}
		for f.server.Step() != secagg.StepDone {
			if err := f.step(nil); err != nil {
				t.Fatal(err)
			}
		}
		f.wantSum(r.Members)
		wantFaults(t, "boxes", f, want...)
	}
}

// TestRefusal compares a refusal with fixed bytes.
func TestRefusal(t *testing.T) {
	nonce := [secagg.NonceLen]byte{1, 2, 3, 4, 5, 6, 7, 8}
	r := secagg.Request{N: 9, Nonce: nonce, Step: secagg.StepMask, Body: []byte{0xaa},
		Rest: secagg.Refusal([]uint32{3, 300})}
	const want = "950109c408010203040506070803c401aa9203cd012c"
	if got := r.Append(nil); hex.EncodeToString(got) != want {
		t.Errorf("got %x, want %s", got, want)
	}
	for _, c := range []struct {
		what  string
		rest  []byte
		slots []uint32
	}{
		{"a refusal", secagg.Refusal([]uint32{3, 300}), []uint32{3, 300}},
		{"and later fields", append(secagg.Refusal([]uint32{7}), 0xc0), []uint32{7}},
		{"no slot", []byte{0x91, 0xcf, 0, 0, 0, 1, 0, 0, 0, 0}, nil},
		{"not ascending", []byte{0x92, 2, 2}, nil},
		{"more than there are", []byte{0xdd, 0xff, 0xff, 0xff, 0xff, 1}, nil},
		{"none", []byte{0x90}, nil},
		{"nothing", secagg.Refusal(nil), nil},
		{"another thing", []byte{0xc0}, nil},
	} {
		r := secagg.Request{N: 9, Step: secagg.StepMask, Rest: c.rest}
		got, err := secagg.DecodeRequest(r.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if slots := got.Refuses(); !slices.Equal(slots, c.slots) {
			t.Errorf("%s: slots %v, want %v", c.what, slots, c.slots)
		}
	}
}
