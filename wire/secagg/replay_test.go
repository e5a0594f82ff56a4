package secagg_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire/secagg"
)

// TestReplayedAnswers has one of five devices send, in one step, what it sent in an earlier round
// of the same members. All other devices refuse replayed keys and shares and name the device, and
// there is no sum. The server finds replayed shares of the last step, and the sum is exact. A
// replayed vector is like any false vector: there is a sum, and nobody can see that the sum is
// false.
func TestReplayedAnswers(t *testing.T) {
	for at, want := range map[secagg.Step]struct{ names, sum, right, found bool }{
		secagg.StepKeys:   {names: true},
		secagg.StepShares: {names: true, found: true},
		secagg.StepMask:   {sum: true},
		secagg.StepUnmask: {sum: true, right: true, found: true},
	} {
		const replayer = 4
		earlier := roundOf(5, 3)
		earlier.Context = []byte("run kitchen, record 6")
		old, f := newFleet(t, earlier, 1), newFleet(t, roundOf(5, 3), 2)
		names := 0
		for f.server.Step() != secagg.StepDone {
			step := f.server.Step()
			for _, slot := range f.server.Missing() {
				b, err := f.answer(slot)
				if slot == replayer && step == at {
					b, err = old.answer(slot)
				}
				if refused := f.devices[slot].Refused(); err == nil && step == secagg.StepMask {
					if len(refused) > 0 {
						err = f.server.Refuse(step, slot, refused, false)
					}
					names += len(refused)
				}
				if err == nil {
					err = f.server.Take(step, slot, b)
				}
				if err == nil {
					continue
				}
				if names++; !errors.Is(err, secagg.ErrForeign) ||
					!strings.Contains(err.Error(), "slot 4: ") {
					t.Errorf("%v replayed, slot %d: %v", at, slot, err)
				}
			}
			if f.server.Close() != nil {
				break
			}
			if old.server.Step() == step {
				if err := old.step(nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		if want.names != (names == 4) {
			t.Errorf("%v replayed: %d others name the device", at, names)
		}
		words, slots, err := f.server.Sum()
		if want.sum != (err == nil) || want.found != allOf(f.server.Faults(), replayer) {
			t.Errorf("%v replayed: sum of %v, %v, faults %v", at, slots, err, f.server.Faults())
		}
		if want.sum && want.right != slices.Equal(words, f.sumOf(slots)) {
			t.Errorf("%v replayed: the sum is right: %v, want %v", at, !want.right, want.right)
		}
	}
}
