package verify

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
)

const run = "kitchen"

// A host signs announcements.
type host struct {
	t *testing.T
	*signed.Signer
}

func newHost(t *testing.T) host {
	t.Helper()
	s, err := signed.NewSigner(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{4}, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	return host{t, s}
}

func (h host) reader() *Reader { return NewReader(run, signed.Keys{h.Key()}) }

func (h host) frame(n, epoch uint64, left uint64) []byte {
	h.t.Helper()
	a := wire.Announcement{State: wire.Paused, N: n, Epoch: epoch, Left: left}
	frame, _, err := h.Announcement(run, a.Append(nil))
	if err != nil {
		h.t.Fatal(err)
	}
	return frame
}

// forged returns the i-th frame. Only a check of the signature can tell it from the coordinator's
// frames.
func (h host) forged(i int) []byte {
	frame := h.frame(9, 1, 0)
	frame[len(frame)-1] ^= byte(i%255 + 1)
	return frame
}

// flood reads the given number of frames, and returns how many of them the reader did not drop.
func flood(r *Reader, frames int, next func(i int) []byte) (read int) {
	for i := range frames {
		if _, err := r.Read(next(i)); !errors.Is(err, ErrFlood) {
			read++
		}
	}
	return read
}

// TestRation: in a flood of useless frames, the reader checks a few frames a second and drops the
// rest. After the flood, the reader reads every frame of the coordinator.
func TestRation(t *testing.T) {
	h := newHost(t)
	old := make([][]byte, 200)
	for i := range old {
		old[i] = h.frame(uint64(2+i/8), 1, uint64(i))
	}
	again := h.frame(100, 1, 0)
	for name, next := range map[string]func(i int) []byte{
		"forged": h.forged,
		"old":    func(i int) []byte { return old[i%len(old)] },
		"again":  func(int) []byte { return again },
	} {
		synctest.Test(t, func(t *testing.T) {
			r := h.reader()
			if _, err := r.Read(again); err != nil {
				t.Fatal(err)
			}
			if read := flood(r, 1000, next); read != atOnce {
				t.Errorf("%s: %d of 1000 frames at once were read, want %d", name, read, atOnce)
			}
			time.Sleep(2 * time.Second)
			if read := flood(r, 1000, next); read != 2*perSecond {
				t.Errorf("%s: after two seconds %d, want %d", name, read, 2*perSecond)
			}
			time.Sleep(time.Second)
			for i := range 1000 {
				a, err := r.Read(h.frame(101+uint64(i/2), 1, uint64(i%2)))
				if err != nil || a.N != 101+uint64(i/2) {
					t.Fatalf("%s: frame %d of the coordinator: %v", name, i, err)
				}
			}
			if _, err := r.Read(h.frame(3, 2, 0)); err != nil {
				t.Errorf("%s: of a later epoch: %v", name, err)
			}
		})
	}
}

// TestFreeOfCharge: the reader refuses frames that no key can have signed without a check, however
// many come.
func TestFreeOfCharge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		r := h.reader()
		a := wire.Announcement{State: wire.Paused, N: 9, Epoch: 1}
		unsigned := a.Append(nil)
		other := h.frame(9, 1, 0)
		other[len(other)-ed25519.SignatureSize-1]++
		for range 1000 {
			if _, err := r.Read([]byte("noise")); !errors.As(err, new(*wire.DecodeError)) {
				t.Fatalf("noise: %v", err)
			}
			for _, frame := range [][]byte{unsigned, other} {
				if _, err := r.Read(frame); !errors.Is(err, signed.ErrUnsigned) {
					t.Fatalf("unsigned: %v", err)
				}
			}
		}
		if _, err := r.Read(h.frame(9, 1, 0)); err != nil {
			t.Error(err)
		}
		if _, err := r.Read(h.forged(1)); !errors.Is(err, signed.ErrUnsigned) {
			t.Errorf("forged: %v", err)
		}
	})
}

// TestKnownAgain: the reader does not check again a frame that came before.
func TestKnownAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		r := h.reader()
		first := h.frame(2, 1, 0)
		for i := range remembered {
			if _, err := r.Read(h.frame(2, 1, uint64(i))); err != nil {
				t.Fatal(err)
			}
		}
		r.keys = signed.Keys{{h.Key()[0]}} // this key has signed nothing, so a check fails
		if a, err := r.Read(first); err != nil || a.N != 2 {
			t.Errorf("the oldest: %v", err)
		}
		r.keys = signed.Keys{h.Key()}
		if _, err := r.Read(h.frame(2, 1, remembered)); err != nil {
			t.Fatal(err)
		}
		r.keys = signed.Keys{{h.Key()[0]}}
		if _, err := r.Read(first); !errors.Is(err, signed.ErrUnsigned) || len(r.known) != remembered {
			t.Errorf("it is not forgotten: %v, %d frames", err, len(r.known))
		}
	})
}
