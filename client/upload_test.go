package client_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// Vectors of tests take three pieces: two whole ones and a short one.
const (
	pieceLen  = wire.MaxPiece / 4
	threeDim  = 2*pieceLen + 100
	threeSize = 4 * threeDim
)

// stall makes the host ignore pieces from an offset on, as if they were lost.
func (h *host) stall(from int) {
	h.answers(func(m bus.Message) bool {
		u, err := wire.DecodeUpload(m.Data)
		return err == nil && m.Subject == subjects.Upload(runName, subjects.ID(m.Subject)) &&
			int(u.Offset) >= from
	})
}

// A device does not send bytes again that the present coordinator has: in another attempt the
// device only asks. A restarted coordinator gets the same bytes from the beginning, and another
// attempt gets the rest.
func TestUploadIsAskedForAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, densePlan(threeDim)), newMoody(t)
		o.dim = threeDim
		d := h.device("d0", o)
		h.announce()
		first := h.oneVector()
		if at := offsets(h.pieces()); !slices.Equal(at,
			[]int{0, wire.MaxPiece, 2 * wire.MaxPiece}) {
			t.Errorf("pieces at %v", at)
		}
		calls := o.calls.Load()
		h.announce()
		if p := h.pieces(); len(p) != 0 {
			t.Errorf("sent %v again", p)
		}
		h.vault.taken = []vectorUpload{first}
		h.announce(func(a *wire.Announcement) { a.Attempt = 1 })
		if p := h.pieces(); len(p) != 1 || p[0].size != 0 {
			t.Errorf("sent %v, want one question", p)
		}
		if p := d.now(); p.State != client.Waiting || p.Contributed {
			t.Errorf("reported %+v after the question, want that it waits", p)
		}
		h.vault.taken = nil // another coordinator had the vector
		h.announce(func(a *wire.Announcement) { a.Attempt = 2 })
		if again := h.oneVector(); !sameBytes(first, again) {
			t.Errorf("got %v, first %v", again, first)
		}
		if p := h.pieces(); len(p) != 4 || p[0].size != 0 {
			t.Errorf("sent %v, want a question and three pieces", p)
		}
		for range 3 {
			h.restart()
			h.announce()
			if again := h.oneVector(); !sameBytes(first, again) {
				t.Errorf("got %v, first %v", again, first)
			}
		}
		h.restart()
		h.pieces()
		h.stall(wire.MaxPiece)
		h.announce(func(a *wire.Announcement) { a.Left = 2000 })
		pass(2 * time.Second)
		if err := d.now().Err; err == nil ||
			!strings.Contains(err.Error(), "the round's time is up") {
			t.Errorf("reported %v, want that the time is up", err)
		}
		h.answers(nil)
		h.pieces()
		h.announce(func(a *wire.Announcement) { a.Attempt++ })
		if at := offsets(h.pieces()); !slices.Equal(at, []int{wire.MaxPiece, 2 * wire.MaxPiece}) {
			t.Errorf("the next attempt sent pieces at %v, want the rest", at)
		}
		if again := h.oneVector(); !sameBytes(first, again) {
			t.Errorf("got %v, first %v", again, first)
		}
		if n := o.calls.Load(); n != calls {
			t.Errorf("%d callbacks for repeated announcements", n-calls)
		}
		h.put(first.vector, 1)
		h.denseRound()
		h.announce()
		h.agrees(d, h.last())
	})
}

// A coordinator that restarts during an upload gets the whole vector, with or without a new
// announcement.
func TestUploadStartsOver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, densePlan(threeDim))
		h.device("d0", bowlLoss(threeDim, 0))
		lost := false
		h.vault.judge = func(_ string, u wire.Upload) *wire.UploadReply {
			if u.Offset > wire.MaxPiece && !lost {
				lost = true
				h.vault.coming = map[string][]byte{}
			}
			return nil
		}
		h.announce()
		pass(time.Second)
		h.oneVector()
		want := []int{0, wire.MaxPiece, 2 * wire.MaxPiece, 0, wire.MaxPiece, 2 * wire.MaxPiece}
		if at := offsets(h.pieces()); !slices.Equal(at, want) {
			t.Errorf("pieces at %v, want %v", at, want)
		}
	})
}

// A device asks a busy coordinator again after the time that the coordinator names, and not at the
// same time as other devices.
func TestUploadBusy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const wait = 4 * time.Second
		h := newHost(t, densePlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		var at []time.Time
		var sizes []int
		h.vault.judge = func(_ string, u wire.Upload) *wire.UploadReply {
			sizes = append(sizes, len(u.Data))
			if len(sizes) > 4 {
				return nil
			}
			if at = append(at, time.Now()); len(at) > 3 {
				return nil
			}
			return &wire.UploadReply{N: u.N, State: wire.UploadBusy,
				Wait: uint64(wait.Milliseconds())}
		}
		h.announce()
		pass(6 * wait)
		h.oneVector()
		seen := map[time.Duration]bool{}
		for i := range at[1:] {
			pause := at[i+1].Sub(at[i])
			if seen[pause] = true; pause < wait || pause > 2*wait {
				t.Errorf("asked again after %v, want %v to %v", pause, wait, 2*wait)
			}
		}
		if len(at) != 4 || len(seen) != 3 {
			t.Errorf("asked at %v, want 4 times with other pauses", at)
		}
		if !slices.Equal(sizes, []int{4 * small, 0, 0, 0, 4 * small}) {
			t.Errorf("pieces of %v bytes, want none sent while there is no place", sizes)
		}
		h.put(h.madeUp(), 1)
		d.progress()
		h.vault.judge = func(_ string, u wire.Upload) *wire.UploadReply {
			return &wire.UploadReply{N: u.N, State: wire.UploadBusy, Wait: 1 << 31}
		}
		h.announce()
		pass(time.Duration(h.plan.Deadline) * time.Millisecond)
		if err := d.now().Err; err == nil ||
			!strings.Contains(err.Error(), "the round's time is up") {
			t.Errorf("reported %v, want that the time is up", err)
		}
	})
}

// A device reports a refusal. The refusal is valid for its attempt; in the next attempt the
// coordinator may accept the vector.
func TestUploadRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, densePlan(threeDim))
		d := h.device("d0", bowlLoss(threeDim, 0))
		h.vault.judge = func(_ string, u wire.Upload) *wire.UploadReply {
			return &wire.UploadReply{N: u.N, State: wire.UploadRefused}
		}
		h.announce()
		if p := d.now(); p.State != client.Waiting || p.Contributed || p.Err == nil ||
			!strings.Contains(p.Err.Error(), "refused the vector") {
			t.Errorf("reported %+v, want the refusal", p)
		}
		h.announce()
		if at := offsets(h.pieces()); !slices.Equal(at, []int{0}) {
			t.Errorf("pieces at %v, want one", at)
		}
		h.vault.judge = nil
		h.announce(func(a *wire.Announcement) { a.Attempt++ })
		h.oneVector()
		if p := d.now(); !p.Contributed || p.Err != nil {
			t.Errorf("reported %+v, want the contribution", p)
		}
		h.put(h.madeUp(), 1)
		h.denseRound()
	})
}

// If there is no answer to a piece, or a malformed one, the device sends the piece again, after
// pauses, until the round is over. In the next round the device uploads again.
func TestUploadNotAnswered(t *testing.T) {
	garbage := map[string]func(u wire.Upload) []byte{
		"silence":  func(wire.Upload) []byte { return nil },
		"no frame": func(wire.Upload) []byte { return []byte{1, 2} },
		"another record": func(u wire.Upload) []byte {
			return (&wire.UploadReply{N: u.N + 1, State: wire.UploadTaken}).Append(nil)
		},
		"beyond the end": func(u wire.Upload) []byte {
			return (&wire.UploadReply{N: u.N, State: wire.UploadMore, Offset: u.Size + u.Offset%8 +
				4}).Append(nil)
		},
		"at the end": func(u wire.Upload) []byte {
			return (&wire.UploadReply{N: u.N, State: wire.UploadMore, Offset: u.Size}).Append(nil)
		},
		"never any further": func(u wire.Upload) []byte {
			return (&wire.UploadReply{N: u.N, State: wire.UploadMore}).Append(nil)
		},
		"to and fro": func(u wire.Upload) []byte {
			return (&wire.UploadReply{N: u.N, State: wire.UploadMore,
				Offset: wire.MaxPiece - min(u.Offset, wire.MaxPiece)}).Append(nil)
		},
		"busy for no time": func(u wire.Upload) []byte {
			return (&wire.UploadReply{N: u.N, State: wire.UploadBusy}).Append(nil)
		},
	}
	for name, f := range garbage {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := newHost(t, densePlan(threeDim))
				d := h.device("d0", bowlLoss(threeDim, 0))
				h.answers(func(m bus.Message) bool {
					u, err := wire.DecodeUpload(m.Data)
					if err != nil {
						return false
					}
					if b := f(u); b != nil {
						h.publish(m.Reply, b)
					}
					return true
				})
				h.announce()
				left := time.Duration(h.plan.Deadline) * time.Millisecond
				pass(left - time.Millisecond)
				if n := len(h.pieces()); n < 3 || n > 24 {
					t.Errorf("%d pieces in %v, want a few", n, left)
				}
				pass(time.Second)
				if p := d.now(); p.State != client.Waiting || p.Contributed || p.Err == nil {
					t.Errorf("reported %+v, want what was in the way", p)
				}
				h.answers(nil)
				h.put(h.madeUp(), 1)
				h.denseRound()
				h.announce()
				h.agrees(d, h.last())
			})
		})
	}
}

// A later round ends the upload for an earlier one.
func TestUploadSuperseded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, densePlan(threeDim))
		d := h.device("d0", bowlLoss(threeDim, 0))
		h.stall(wire.MaxPiece)
		h.announce()
		pass(time.Second)
		h.answers(nil)
		h.put(h.madeUp(), 1)
		h.announce()
		if got := h.oneVector(); got.N != h.last()+1 {
			t.Errorf("got %v, want one of record %d", got, h.last()+1)
		}
		reported := false
		for _, p := range d.progress() {
			reported = reported || p.Err != nil &&
				strings.Contains(p.Err.Error(), "a later round was announced")
		}
		if !reported {
			t.Error("got no report that a later round was announced")
		}
	})
}

// A device reports the progress of an upload.
func TestUploadProgress(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, densePlan(threeDim))
		d := h.device("d0", bowlLoss(threeDim, 0))
		d.progress()
		h.announce()
		var at []int
		for _, p := range d.progress() {
			if p.State == client.Working && p.Vector > 0 {
				if at = append(at, int(p.Received)); p.Vector != h.last()+1 || p.Size != threeSize {
					t.Errorf("reported %+v", p)
				}
			}
		}
		if !slices.Equal(at, []int{0, wire.MaxPiece, 2 * wire.MaxPiece}) {
			t.Errorf("got reports of %v bytes", at)
		}
	})
}

// A coordinator that lost its members refuses the vectors of devices that it does not know. The
// coordinator accepts the vectors once the devices have joined again, in the same attempt.
func TestUploadAfterJoiningAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, densePlan(small))
		h.device("d0", bowlLoss(small, 0))
		h.denseRound()
		h.announce()
		h.oneVector()
		h.restart()
		joins := h.joins
		h.vault.judge = func(_ string, u wire.Upload) *wire.UploadReply {
			if h.joins > joins {
				return nil
			}
			return &wire.UploadReply{N: u.N, State: wire.UploadRefused}
		}
		for range 5 {
			h.announce()
			pass(time.Duration(h.plan.Reannounce) * time.Millisecond)
		}
		h.oneVector()
		if n := len(h.pieces()); n != 4 { // two rounds, a refused piece, and that piece again
			t.Errorf("%d pieces, want 4", n)
		}
	})
}
