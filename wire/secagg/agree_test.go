package secagg_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/zofl/zofl/wire/secagg"
)

// agreeing returns a round of n members that agree on lists.
func agreeing(n int) secagg.Round {
	r := roundOf(n, 2)
	r.Agree = true
	return r
}

// atAgreed runs a round of n devices with Agree until a step is open. The devices in gone leave
// before StepMask.
func atAgreed(t testing.TB, n int, step secagg.Step, gone map[uint32]bool) *fleet {
	t.Helper()
	f := newFleet(t, agreeing(n), 9)
	for f.server.Step() != step {
		left := map[uint32]bool{}
		if f.server.Step() == secagg.StepMask {
			left = gone
		}
		if err := f.step(left); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// Each of five devices stays, or leaves before one of its five answers. The server gets a sum if
// the threshold of three devices stays to the end. The sum is that of all vectors that came.
func TestAgreedDropouts(t *testing.T) {
	order := []secagg.Step{secagg.StepKeys, secagg.StepShares, secagg.StepMask, secagg.StepAgree,
		secagg.StepUnmask, secagg.StepDone}
	sums := 0
	for first := range order {
		for second := range order {
			f := newFleet(t, agreeing(5), byte(first))
			leaves := map[uint32]int{1: first, 10: second}
			var sent []uint32
			for _, slot := range f.round.Members {
				if place, some := leaves[slot]; !some || order[place] == secagg.StepDone || place > 2 {
					sent = append(sent, slot)
				}
			}
			err := f.run(func(slot uint32) secagg.Step {
				if place, some := leaves[slot]; some {
					return order[place]
				}
				return secagg.StepDone
			})
			if err != nil {
				t.Fatalf("they leave before %v and %v: %v", order[first], order[second], err)
			}
			f.wantSum(sent)
			sums++
		}
	}
	f := atAgreed(t, 5, secagg.StepAgree, nil)
	gone := map[uint32]bool{1: true, 4: true, 7: true}
	if err := f.step(gone); !errors.Is(err, secagg.ErrThreshold) {
		t.Errorf("two of five agree: got %v, want %v", err, secagg.ErrThreshold)
	}
	if err := f.step(nil); err != nil {
		t.Error(err)
	}
	if sums != len(order)*len(order) {
		t.Errorf("%d sums", sums)
	}
}

// If a server gives one device another list in StepMask, no device continues with that device: the
// others see from the tag of its vector that it used another list.
func TestOtherListOfShares(t *testing.T) {
	f := atAgreed(t, 5, secagg.StepMask, nil)
	const box = 80
	given := f.server.Give(1)
	lone := append([]byte{0b00111}, given[1:1+2*box]...)
	b, err := f.devices[1].Mask(lone, f.values[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := f.server.Take(secagg.StepMask, 1, b); err != nil {
		t.Fatal(err)
	}
	for _, slot := range f.round.Members[1:] {
		if b, err = f.answer(slot); err == nil {
			err = f.server.Take(secagg.StepMask, slot, b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := f.server.Close(); err != nil {
		t.Fatal(err)
	}
	for _, slot := range f.round.Members[1:] {
		b, err := f.answer(slot)
		wantBlame(t, "another list", err, 1, secagg.ErrForeign)
		if b != nil {
			t.Errorf("slot %d went on", slot)
		}
		if b, err := f.devices[slot].Unmask(nil); b != nil || !errors.Is(err, secagg.ErrStep) {
			t.Errorf("slot %d: got %x, %v, want %v", slot, b, err, secagg.ErrStep)
		}
	}
}

// If a server gives devices different lists of the devices that sent vectors, it gets no share,
// because no list has the tags of three devices.
func TestOtherListsOfVectors(t *testing.T) {
	f := atAgreed(t, 5, secagg.StepAgree, nil)
	const tag = 16
	shown := []byte{0b10011, 0b01011, 0b00111, 0b01011, 0b10011} // as in TestTwoFacedServer
	tags := map[uint32][]byte{}
	for i, slot := range f.round.Members {
		given := f.server.Give(slot)
		mine := []byte{shown[i]}
		for j := range f.round.Members {
			if at := j; j != i && shown[i]>>j&1 == 1 {
				if j > i {
					at--
				}
				mine = append(mine, given[1+tag*at:1+tag*(at+1)]...)
			}
		}
		var err error
		if tags[slot], err = f.devices[slot].Agree(mine); err != nil {
			t.Fatal(err)
		}
		if again, err := f.devices[slot].Agree(given); again != nil ||
			!errors.Is(err, secagg.ErrConflict) {
			t.Errorf("slot %d tags a second list: %v", slot, err)
		}
	}
	for i, slot := range f.round.Members {
		given := []byte{all}
		for j, other := range f.round.Members {
			if j != i {
				given = append(given, tags[other]...)
			}
		}
		if b, err := f.devices[slot].Unmask(given); b != nil ||
			!errors.Is(err, secagg.ErrThreshold) {
			t.Errorf("slot %d: got %x, %v, want %v", slot, b, err, secagg.ErrThreshold)
		}
	}
}

const all = 0b11111

// Devices do not count a device whose tag is false in the last step, and go on without it. Tags of
// another round, or for another purpose, are false.
func TestFalseTags(t *testing.T) {
	f := atAgreed(t, 5, secagg.StepUnmask, map[uint32]bool{13: true})
	given := f.server.Give(1)
	if b, err := f.devices[1].Unmask(flip(given, 1)); err != nil || len(b) == 0 {
		t.Errorf("one of four tags is false: %v", err)
	}
	given = f.server.Give(4)
	if b, err := f.devices[4].Unmask(flip(flip(given, 1), 17)); b != nil ||
		!errors.Is(err, secagg.ErrThreshold) {
		t.Errorf("two of four tags are false: got %v, want %v", err, secagg.ErrThreshold)
	}
	f = atAgreed(t, 5, secagg.StepAgree, nil)
	given = f.server.Give(1)
	_, err := f.devices[1].Agree(flip(given, 1))
	wantBlame(t, "a false tag of shares", err, 4, secagg.ErrForeign)
	if b, err := f.devices[1].Agree(given); err != nil || len(b) != 16 {
		t.Errorf("the right tags after false ones: %x, %v", b, err)
	}
}

// Rounds with Agree need a secret, and all devices must be neighbors. Rounds without Agree have no
// StepAgree.
func TestAgreeRefusals(t *testing.T) {
	if _, err := secagg.NewDevice(agreeing(5), 1, chance(1), nil); !errors.Is(err, secagg.ErrRound) {
		t.Errorf("no secret: %v", err)
	}
	if _, err := secagg.NewServer(agreeing(101)); !errors.Is(err, secagg.ErrRound) {
		t.Errorf("101 members: %v", err)
	}
	f := at(t, 4, secagg.StepUnmask)
	if b, err := f.devices[1].Agree(f.server.Give(1)); b != nil || !errors.Is(err, secagg.ErrStep) {
		t.Errorf("a round without the step: %x, %v", b, err)
	}
	plain, agreed := newFleet(t, roundOf(4, 4), 9), newFleet(t, agreeing(4), 9)
	if bytes.Equal(plain.devices[1].Keys(), agreed.devices[1].Keys()) {
		t.Error("the same keys with and without agreement")
	}
}
