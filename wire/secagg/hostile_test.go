package secagg_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/zofl/zofl/wire/secagg"
)

// wantBlame checks that an error names a slot and matches kind.
func wantBlame(t *testing.T, what string, err error, slot uint32, kind error) {
	t.Helper()
	var e *secagg.Error
	if !errors.As(err, &e) || e.Slot != slot || !errors.Is(err, kind) {
		t.Errorf("%s: got %v, want slot %d and %v", what, err, slot, kind)
	}
}

// at runs a round of n devices, none of which leaves, until a step is open.
func at(t testing.TB, n int, step secagg.Step) *fleet {
	t.Helper()
	f := newFleet(t, roundOf(n, 4), 9)
	for f.server.Step() < step {
		if err := f.step(nil); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// with returns a copy of b with other in place of the bytes from index at on.
func with(b []byte, at int, other ...byte) []byte {
	b = bytes.Clone(b)
	copy(b[at:], other)
	return b
}

func flip(b []byte, at int) []byte { return with(b, at, b[at]^1) }

// A device refuses bytes of another round, and still answers the right bytes afterwards.
func TestDeviceRefuses(t *testing.T) {
	const peer, box = 80, 80
	for _, c := range []struct {
		what   string
		step   secagg.Step
		change func(given []byte) []byte
		slot   uint32 // who is blamed, or 0
		kind   error
	}{
		{"nothing", secagg.StepShares, func([]byte) []byte { return nil }, 0, secagg.ErrMalformed},
		{"one byte less", secagg.StepShares, func(b []byte) []byte { return b[:len(b)-1] }, 0,
			secagg.ErrMalformed},
		{"a fifth device", secagg.StepShares, func(b []byte) []byte { return with(b, 0, 0x1f) }, 0,
			secagg.ErrMalformed},
		{"without itself", secagg.StepShares, func(b []byte) []byte { return with(b, 0, 0xe) }, 0,
			secagg.ErrForeign},
		{"too few", secagg.StepShares, func(b []byte) []byte { return with(b, 0, 3)[:1+peer] }, 0,
			secagg.ErrThreshold},
		{"a changed seal key", secagg.StepShares, func(b []byte) []byte { return flip(b, 1) }, 4,
			secagg.ErrForeign},
		{"a changed mask key", secagg.StepShares, func(b []byte) []byte { return flip(b, 1+32) }, 4,
			secagg.ErrForeign},
		{"a changed tag", secagg.StepShares, func(b []byte) []byte { return flip(b, 1+64) }, 4,
			secagg.ErrForeign},
		{"keys of another", secagg.StepShares, func(b []byte) []byte {
			return with(b, 1+peer, b[1:1+peer]...)
		}, 7, secagg.ErrForeign},
		{"two changed shares", secagg.StepMask, func(b []byte) []byte {
			return flip(flip(b, 1+box), 1+2*box)
		}, 7, secagg.ErrForeign},
		{"each other's shares", secagg.StepMask, func(b []byte) []byte {
			return append(with(b, 1, b[1+box:1+2*box]...)[:1+box], b[1:]...)[:len(b)]
		}, 4, secagg.ErrForeign},
		{"too few", secagg.StepMask, func(b []byte) []byte { return with(b, 0, 3)[:1+box] }, 0,
			secagg.ErrThreshold},
		{"without itself", secagg.StepMask, func(b []byte) []byte { return with(b, 0, 0xe) }, 0,
			secagg.ErrForeign},
		{"too few", secagg.StepUnmask, func([]byte) []byte { return []byte{3} }, 0,
			secagg.ErrThreshold},
		{"without itself", secagg.StepUnmask, func([]byte) []byte { return []byte{0xe} }, 0,
			secagg.ErrForeign},
		{"a byte more", secagg.StepUnmask, func(b []byte) []byte { return append(b, 0) }, 0,
			secagg.ErrMalformed},
	} {
		f := at(t, 4, c.step)
		d, given := f.devices[1], f.server.Give(1)
		ask := func(given []byte) error {
			var err error
			switch c.step {
			case secagg.StepShares:
				_, err = d.Shares(given)
			case secagg.StepMask:
				_, err = d.Mask(given, f.values[1])
			case secagg.StepUnmask:
				_, err = d.Unmask(given)
			}
			return err
		}
		err := ask(c.change(bytes.Clone(given)))
		if c.slot > 0 {
			wantBlame(t, c.step.String()+": "+c.what, err, c.slot, c.kind)
		} else if !errors.Is(err, c.kind) {
			t.Errorf("%v: %s: got %v, want %v", c.step, c.what, err, c.kind)
		}
		if err := ask(given); err != nil {
			t.Errorf("%v after %s: %v", c.step, c.what, err)
		}
	}
}

// A device refuses keys of another round, slot or secret, whether the round has a secret or not.
func TestForeignKeys(t *testing.T) {
	for what, make := range map[string]func(r secagg.Round) (*secagg.Device, error){
		"another context": func(r secagg.Round) (*secagg.Device, error) {
			r.Context = []byte("run kitchen, record 8")
			return secagg.NewDevice(r, 4, chance(3), secret)
		},
		"other members": func(r secagg.Round) (*secagg.Device, error) {
			r.Members = []uint32{1, 4, 7, 11}
			return secagg.NewDevice(r, 4, chance(3), secret)
		},
		"other words": func(r secagg.Round) (*secagg.Device, error) {
			r.Words++
			return secagg.NewDevice(r, 4, chance(3), secret)
		},
		"another threshold": func(r secagg.Round) (*secagg.Device, error) {
			r.Threshold = 4
			return secagg.NewDevice(r, 4, chance(3), secret)
		},
		"another slot": func(r secagg.Round) (*secagg.Device, error) {
			return secagg.NewDevice(r, 10, chance(3), secret)
		},
		"another secret": func(r secagg.Round) (*secagg.Device, error) {
			return secagg.NewDevice(r, 4, chance(3), flip(secret, 0))
		},
		"no secret": func(r secagg.Round) (*secagg.Device, error) {
			return secagg.NewDevice(r, 4, chance(3), nil)
		},
	} {
		f := newFleet(t, roundOf(4, 4), 9)
		var err error
		if f.devices[4], err = make(f.round); err != nil {
			t.Fatal(err)
		}
		for _, slot := range f.round.Members {
			if err := f.server.Take(secagg.StepKeys, slot, f.devices[slot].Keys()); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.server.Close(); err != nil {
			t.Fatal(err)
		}
		_, err = f.devices[1].Shares(f.server.Give(1))
		wantBlame(t, what, err, 4, secagg.ErrForeign)
	}
}

// A device answers each step for one content only: it does not answer other keys, does not mask
// other values with the same masks, and never gives both shares of a neighbor.
func TestDeviceAnswersOnce(t *testing.T) {
	f, other := newFleet(t, roundOf(4, 4), 9), newFleet(t, roundOf(4, 4), 10)
	d := f.devices[1]
	if _, err := d.Mask(nil, f.values[1]); !errors.Is(err, secagg.ErrStep) {
		t.Errorf("mask before keys: got %v, want %v", err, secagg.ErrStep)
	}
	if err := errors.Join(f.step(nil), other.step(nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Unmask([]byte{15}); !errors.Is(err, secagg.ErrStep) {
		t.Errorf("unmask before mask: got %v, want %v", err, secagg.ErrStep)
	}
	if _, err := d.Shares(f.server.Give(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Shares(other.server.Give(1)); !errors.Is(err, secagg.ErrConflict) {
		t.Errorf("other keys: got %v, want %v", err, secagg.ErrConflict)
	}
	if err := f.step(nil); err != nil {
		t.Fatal(err)
	}
	given := f.server.Give(1)
	if _, err := d.Mask(given, f.values[1][:3]); !errors.Is(err, secagg.ErrMalformed) {
		t.Errorf("three values: got %v, want %v", err, secagg.ErrMalformed)
	}
	if _, err := d.Mask(given, f.values[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Mask(given, f.values[4]); !errors.Is(err, secagg.ErrConflict) {
		t.Errorf("other values: got %v, want %v", err, secagg.ErrConflict)
	}
	if _, err := d.Mask(with(given, 0, 7)[:1+160], f.values[1]); !errors.Is(err,
		secagg.ErrConflict) {
		t.Errorf("other neighbors: got %v, want %v", err, secagg.ErrConflict)
	}
	if _, err := d.Unmask([]byte{0xf}); err != nil {
		t.Fatal(err)
	}
	for _, alive := range []byte{7, 0xb, 0xd} {
		if b, err := d.Unmask([]byte{alive}); b != nil || !errors.Is(err, secagg.ErrConflict) {
			t.Errorf("%b after 1111: got %x, %v, want %v", alive, b, err, secagg.ErrConflict)
		}
	}
}

// A device that has no share of a neighbor refuses a list that says the neighbor's vector came.
func TestVectorFromNowhere(t *testing.T) {
	f := at(t, 5, secagg.StepShares)
	if err := f.step(map[uint32]bool{4: true}); err != nil {
		t.Fatal(err)
	}
	d := f.devices[1]
	if _, err := d.Mask(f.server.Give(1), f.values[1]); err != nil {
		t.Fatal(err)
	}
	_, err := d.Unmask([]byte{0x1f})
	wantBlame(t, "a vector", err, 4, secagg.ErrForeign)
}

// In StepUnmask a device reveals the share of the seed of a neighbor that stayed, or the share of
// the mask key of a neighbor that left. The two shares differ, and no answer has both.
func TestNeverBothShares(t *testing.T) {
	answers := [2][]byte{}
	for i, alive := range []byte{0x1f, 0x1d} { // a twin of the device sees slot 4 leave
		f := at(t, 5, secagg.StepMask)
		if _, err := f.devices[1].Mask(f.server.Give(1), f.values[1]); err != nil {
			t.Fatal(err)
		}
		var err error
		if answers[i], err = f.devices[1].Unmask([]byte{alive}); err != nil {
			t.Fatal(err)
		}
	}
	if len(answers[0]) != 5*32 || len(answers[1]) != 5*32 {
		t.Fatalf("%d and %d bytes, want one share for each of 5", len(answers[0]), len(answers[1]))
	}
	for i := range 5 {
		same := bytes.Equal(answers[0][32*i:32*i+32], answers[1][32*i:32*i+32])
		if same != (i != 1) {
			t.Errorf("share %d: the same is %v, want %v", i, same, i != 1)
		}
	}
}
