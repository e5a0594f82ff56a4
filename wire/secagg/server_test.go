package secagg_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/zofl/zofl/wire/secagg"
)

// The server refuses bytes that are no answer, and names the sender. The sum is as if these bytes
// had not come.
func TestServerRefuses(t *testing.T) {
	f := newFleet(t, roundOf(4, 4), 9)
	for step := range secagg.StepDone {
		good, err := f.answer(4)
		if err != nil {
			t.Fatal(err)
		}
		take := func(what string, step secagg.Step, slot uint32, b []byte, kind error) {
			t.Helper()
			wantBlame(t, step.String()+": "+what, f.server.Take(step, slot, b), slot, kind)
		}
		take("nothing", step, 4, nil, secagg.ErrMalformed)
		take("one byte less", step, 4, good[1:], secagg.ErrMalformed)
		take("one byte more", step, 4, append(bytes.Clone(good), 0), secagg.ErrMalformed)
		take("a stranger", step, 5, good, secagg.ErrForeign)
		take("another step", step+1, 4, good, secagg.ErrStep)
		take("an earlier step", step-1, 4, good, secagg.ErrStep)
		if step == secagg.StepKeys {
			take("a key of low order", step, 1, make([]byte, 96), secagg.ErrMalformed)
			take("one key twice", step, 1, with(good, 32, good[:32]...), secagg.ErrForeign)
		}
		if err := f.server.Take(step, 4, good); err != nil {
			t.Fatal(err)
		}
		if step == secagg.StepKeys {
			take("another's keys", step, 1, good, secagg.ErrForeign)
		}
		take("a change of mind", step, 4, flip(good, 3), secagg.ErrConflict)
		if err := f.step(nil); err != nil {
			t.Fatal(err)
		}
	}
	f.wantSum(f.round.Members)
	wantBlame(t, "the end", f.server.Take(secagg.StepDone, 4, nil), 4, secagg.ErrStep)
}

// A device that left a round is out: the server refuses what the device sends later, and gives it
// nothing.
func TestServerRefusesWhoLeft(t *testing.T) {
	f := at(t, 4, secagg.StepMask)
	late, err := f.answer(4)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.step(map[uint32]bool{4: true}); err != nil {
		t.Fatal(err)
	}
	wantBlame(t, "late", f.server.Take(secagg.StepMask, 4, late), 4, secagg.ErrStep)
	wantBlame(t, "out", f.server.Take(secagg.StepUnmask, 4, make([]byte, 128)), 4, secagg.ErrForeign)
	if given := f.server.Give(4); given != nil {
		t.Errorf("who left gets %x, want nothing", given)
	}
	if err := f.step(nil); err != nil {
		t.Fatal(err)
	}
	f.wantSum([]uint32{1, 7, 10})
}

// If one device sends false shares in the last step, the server finds that device, and the sum is
// exact. If two of five devices do so, there is no sum.
func TestLiars(t *testing.T) {
	for _, liar := range []uint32{1, 4, 7, 13} {
		f := at(t, 5, secagg.StepMask)
		if err := f.step(map[uint32]bool{10: true}); err != nil {
			t.Fatal(err)
		}
		f.lie(liar)
		if err := f.server.Close(); err != nil {
			t.Fatal(err)
		}
		f.wantSum([]uint32{1, 4, 7, 13})
		if got := f.server.Faults(); liar != 13 && !allOf(got, liar) { // 13 is not needed
			t.Errorf("got faults %v, want those of %d", got, liar)
		}
	}
	f := at(t, 5, secagg.StepUnmask)
	f.lie(4, 10, 13)
	wantBlame(t, "three liars", f.server.Close(), 1, secagg.ErrForeign)
	if words, _, err := f.server.Sum(); words != nil || !errors.Is(err, secagg.ErrStep) {
		t.Errorf("got %v, %v, want no sum", words, err)
	}
}

// allOf says whether there are faults, of each of which one liar is a possible cause.
func allOf(faults []secagg.Fault, liar uint32) bool {
	return len(faults) > 0 && !slices.ContainsFunc(faults, func(f secagg.Fault) bool {
		return f.Owner != liar && !slices.Equal(f.By, []uint32{liar})
	})
}

// lie makes all devices answer StepUnmask; the liars answer with false shares.
func (f *fleet) lie(liars ...uint32) {
	f.t.Helper()
	for _, slot := range f.server.Missing() {
		b, err := f.answer(slot)
		if err != nil {
			f.t.Fatal(err)
		}
		for i := range b {
			if slices.Contains(liars, slot) {
				b[i] += 1 + byte(slot)
			}
		}
		if err := f.server.Take(secagg.StepUnmask, slot, b); err != nil {
			f.t.Fatal(err)
		}
	}
}
