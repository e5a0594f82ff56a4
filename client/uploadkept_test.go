package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/wire"
)

// The vector is in the store before the device sends the first piece. A device killed during the
// upload resumes with the same bytes from the byte that the coordinator names, without calling the
// loss.
func TestUploadIsKept(t *testing.T) {
	for cut := range 3 {
		bubble(t, func(t *testing.T) {
			h, store, o := newHost(t, densePlan(threeDim)), newStore(t), newMoody(t)
			o.dim = threeDim
			d := h.device("d0", o, with(store))
			h.denseRound()
			h.pieces()
			early := 0
			store.saves = func(item string) {
				h.mu.Lock()
				defer h.mu.Unlock()
				if item == "upload" && len(h.vault.pieces) == 0 {
					early++
				}
			}
			var heads []wire.Upload
			h.vault.judge = func(_ string, u wire.Upload) *wire.UploadReply {
				heads = append(heads, u)
				return nil
			}
			h.stall(cut * wire.MaxPiece)
			h.announce()
			synctest.Wait()
			if n := len(h.vectors()); n != 0 || early != 1 {
				t.Fatalf("%d vectors came, kept %d times before the first piece, want none, once",
					n, early)
			}
			store = d.killed(store)
			h.answers(nil)
			h.pieces()
			calls := o.calls.Load()
			o.mood = func(context.Context, []float32) (float64, error) {
				return 5, nil
			} // a second call would give another loss
			d = h.device("d0", o, with(store))
			h.announce()
			got := h.oneVector()
			want := []int{0, wire.MaxPiece, 2 * wire.MaxPiece}
			if cut > 0 {
				want = append([]int{0}, want[cut:]...)
			}
			if at := offsets(h.pieces()); !slices.Equal(at, want) {
				t.Errorf("cut %d: pieces at %v, want %v", cut, at, want)
			}
			if n := o.calls.Load() - calls; n != 0 {
				t.Errorf("%d callbacks, want none", n)
			}
			for _, u := range heads {
				if u.Digest != got.Digest || u.Loss != got.Loss || u.Weight != got.Weight ||
					u.Tip != got.Tip {
					t.Errorf("before the restart %x, after %x", u.Digest[:4], got.Digest[:4])
				}
			}
			h.announce(func(a *wire.Announcement) { a.Perturbations++ })
			if o.calls.Load() == calls {
				t.Error("another question was answered with the same vector")
			}
			d.stop()
		})
	}
}

// The client sets aside a stored upload that is damaged or not this device's, and computes a new
// vector.
func TestUnusableUpload(t *testing.T) {
	damage := damages()
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, densePlan(small)), newStore(t)
		d := h.device("d0", bowlLoss(small, 0), with(store))
		h.device("d1", bowlLoss(small, 0)).stop()
		h.announce()
		want := h.oneVector()
		d.stop()
		file := store.get("upload")
		for i := range file {
			damage[fmt.Sprint("byte ", i)] = func(b []byte) []byte { b[i] ^= 4; return b }
		}
		for name, f := range damage {
			store.put("upload", f(slices.Clone(file)))
			delete(store.aside, "upload")
			d := h.device("d0", bowlLoss(small, 0), with(store))
			if !store.isAside("upload") {
				t.Errorf("%s: not set aside", name)
			}
			h.restart()
			h.announce()
			if got := h.oneVector(); !sameBytes(got, want) {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
			d.stop()
		}
		store.put("upload", file)
		delete(store.aside, "upload")
		h.device("d1", bowlLoss(small, 0), with(store))
		if !store.isAside("upload") {
			t.Error("another device's upload was taken")
		}
	})
}

// If the store fails to save a vector, the client reports that once, and sends the vector.
func TestUploadNotKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, densePlan(small)), newStore(t)
		full := errors.New("no space left on device")
		store.fails(full, "upload")
		d := h.device("d0", bowlLoss(small, 0), with(store))
		for range 3 {
			h.denseRound()
		}
		reported := 0
		for _, p := range d.progress() {
			if errors.Is(p.Err, client.ErrStore) && errors.Is(p.Err, full) {
				reported++
			}
		}
		if reported != 1 {
			t.Errorf("reported %d times that the store is full, want once", reported)
		}
	})
}
