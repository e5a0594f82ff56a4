package secagg_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/wire/secagg"
)

// wantBlame checks that an error names a slot, and is of a kind.
func wantBlame(t *testing.T, what string, err error, slot uint32, kind error) {
	t.Helper()
	var e *secagg.Error
	if !errors.As(err, &e) || e.Slot != slot || !errors.Is(err, kind) {
		t.Errorf("%s: got %v, want slot %d and %v", what, err, slot, kind)
	}
}

// at leads a round of n devices without losses until a step is open.
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

// with returns a copy of bytes in which some are changed.
func with(b []byte, at int, other ...byte) []byte {
	b = bytes.Clone(b)
	copy(b[at:], other)
	return b
}

func flip(b []byte, at int) []byte { return with(b, at, b[at]^1) }

// The server refuses what is no answer, names who sent it, and sums as if it had not come.
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

// Who left is out: what it sends later does not count, and it gets nothing.
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

// A device gives nothing to bytes that are not of its round, and still answers the right ones.
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
		{"a changed share", secagg.StepMask, func(b []byte) []byte { return flip(b, 1+box) }, 7,
			secagg.ErrForeign},
		{"another's share", secagg.StepMask, func(b []byte) []byte {
			return with(b, 1+box, b[1:1+box]...)
		}, 7, secagg.ErrForeign},
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

// Keys of another round, slot or secret are refused, with or without a secret.
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

// A device answers each step once: not for other keys, not with other values under the same masks,
// and never gives both shares of a neighbor.
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

// A device that has no share of a neighbor does not believe that its vector came.
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

// The two halves of a device's answer: a neighbor that stays gets its seed revealed, one that left
// its key. The shares are different ones, and no answer has both.
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

// One device that sends false shares at the end is found, and the sum is exact. Where two of five
// do, there is none.
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
		if got := f.server.Liars(); liar != 13 && !slices.Equal(got, []uint32{liar}) {
			t.Errorf("got liars %v, want %d", got, liar) // what 13 says is not needed
		}
	}
	f := at(t, 5, secagg.StepUnmask)
	f.lie(4, 10, 13)
	wantBlame(t, "three liars", f.server.Close(), 1, secagg.ErrForeign)
	if words, _, err := f.server.Sum(); words != nil || !errors.Is(err, secagg.ErrStep) {
		t.Errorf("got %v, %v, want no sum", words, err)
	}
}

// lie has all devices answer StepUnmask, some of them with false shares.
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

// words reads a masked vector.
func words(b []byte) (w []uint32) {
	for ; len(b) > 0; b = b[4:] {
		w = append(w, binary.LittleEndian.Uint32(b))
	}
	return w
}

// What a device sends is its vector plus a mask that does not depend on the vector.
func TestMaskIsIndependent(t *testing.T) {
	masks := [2][]uint32{}
	for i := range masks {
		f := at(t, 4, secagg.StepMask)
		for w := range f.values[4] {
			f.values[4][w] = uint32(i * (w + 1) * 0x01234567)
		}
		b, err := f.answer(4)
		if err != nil {
			t.Fatal(err)
		}
		masks[i] = words(b)
		for w, v := range f.values[4] {
			masks[i][w] -= v
		}
	}
	if !slices.Equal(masks[0], masks[1]) {
		t.Errorf("masks %x and %x of one device differ", masks[0], masks[1])
	}
}

// Masked zeros look like random bytes: by the chi-square of the 256 values, by the count of ones at
// each bit, and by the correlation with the neighbors'.
func TestMasksLookRandom(t *testing.T) {
	const n = 1 << 16
	f := newFleet(t, roundOf(3, n), 9)
	for _, v := range f.values {
		clear(v)
	}
	if err := errors.Join(f.step(nil), f.step(nil)); err != nil {
		t.Fatal(err)
	}
	var vectors [][]uint32
	for _, slot := range f.round.Members {
		b, err := f.answer(slot)
		if err != nil {
			t.Fatal(err)
		}
		var counts [256]float64
		for _, v := range b {
			counts[v]++
		}
		chi, want := 0.0, float64(len(b))/256
		for _, count := range counts {
			chi += (count - want) * (count - want) / want
		}
		if math.Abs(chi-255) > 6*math.Sqrt(2*255) {
			t.Errorf("slot %d: chi-square %v of 255 degrees of freedom", slot, chi)
		}
		vectors = append(vectors, words(b))
	}
	for i, a := range vectors {
		for _, b := range vectors[i+1:] {
			for bit := range 32 {
				same := 0.0
				for w := range a {
					same += float64((a[w] ^ b[w]) >> bit & 1)
				}
				if math.Abs(same-n/2) > 6*math.Sqrt(n/4) {
					t.Errorf("bit %d of two devices differs %v times of %d", bit, same, n)
				}
			}
		}
	}
}
