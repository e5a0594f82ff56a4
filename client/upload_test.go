package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/wire"
)

// Vectors of tests take three pieces: two whole ones and a short one.
const (
	pieceLen  = wire.MaxPiece / 4
	threeDim  = 2*pieceLen + 100
	threeSize = 4 * threeDim
)

// Devices of a dense run send vectors, take part in what their mean comes to, and have
// its bits.
func TestDenseRounds(t *testing.T) {
	for _, dim := range []int{small, threeDim} {
		bubble(t, func(t *testing.T) {
			h := newHost(t, densePlan(dim))
			var all []*device
			for i := range 3 {
				all = append(all, h.device(fmt.Sprintf("d%d", i), bowlLoss(dim, i)))
			}
			for range 4 {
				came := h.denseRound()
				if len(came) != 3 {
					t.Fatalf("%v came, want 3 vectors", came)
				}
				for _, c := range came {
					if len(c.vector) != 4*dim || c.Weight != 1 || c.N != h.last() {
						t.Errorf("got %v of weight %d", c, c.Weight)
					}
				}
				if slices.Equal(came[0].vector, came[1].vector) {
					t.Error("two devices sent the same")
				}
			}
			h.announce()
			for _, d := range all {
				h.agrees(d, h.last())
				if n, err := d.Params(make([]float32, dim)); n != h.last() || err != nil {
					t.Errorf("parameters are of record %d, %v, want %d", n, err, h.last())
				}
			}
			h.silent()
			for _, d := range all {
				said := d.progress()
				i := slices.IndexFunc(said, func(p client.Progress) bool { return p.Contributed })
				if i < 0 || said[i].Loss == 0 {
					t.Errorf("told %+v, want a contribution and its loss", said)
				}
			}
		})
	}
}

// A vector may be of more scalars than a reply has.
func TestDenseManyScalars(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := densePlan(3)
		p.Perturbations = wire.MaxScalars/p.Steps + 1
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		h := newHost(t, p)
		d := h.device("d0", bowlLoss(3, 0))
		if came := h.denseRound(); len(came) != 1 {
			t.Errorf("%v came, want a vector", came)
		}
		h.announce()
		h.agrees(d, h.last())
	})
}

// stall has the host not answer pieces from an offset on, as if they were lost.
func (h *host) stall(from int) {
	h.answers(func(m bus.Message) bool {
		u, err := wire.DecodeUpload(m.Data)
		return err == nil && m.Subject == wire.UploadSubject(runName, wire.SubjectID(m.Subject)) && int(u.Offset) >= from
	})
}

// The vector is in the store before its first piece is sent, and a device that is
// killed in the middle goes on with the same bytes where the coordinator says, without
// asking the loss.
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
			h.vault.judge = func(_ string, u wire.Upload) *wire.UploadReply { heads = append(heads, u); return nil }
			h.stall(cut * wire.MaxPiece)
			h.announce()
			synctest.Wait()
			if n := len(h.vectors()); n != 0 || early != 1 {
				t.Fatalf("%d vectors came, kept %d times before the first piece, want none, once", n, early)
			}
			store = d.killed(store)
			h.answers(nil)
			h.pieces()
			calls := o.calls.Load()
			o.mood = func(context.Context, []float32) (float64, error) { return 5, nil } // it would be another one now
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
				if u.Digest != got.Digest || u.Loss != got.Loss || u.Weight != got.Weight || u.Tip != got.Tip {
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

// What the coordinator has is not sent again while it leads; one that restarted is
// sent the same bytes from their beginning, another attempt the rest.
func TestUploadIsAskedForAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, densePlan(threeDim)), newMoody(t)
		o.dim = threeDim
		d := h.device("d0", o)
		h.announce()
		first := h.oneVector()
		if at := offsets(h.pieces()); !slices.Equal(at, []int{0, wire.MaxPiece, 2 * wire.MaxPiece}) {
			t.Errorf("pieces at %v", at)
		}
		calls := o.calls.Load()
		h.announce()
		h.announce(func(a *wire.Announcement) { a.Attempt++ })
		if p := h.pieces(); len(p) != 0 {
			t.Errorf("sent %v again", p)
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
		if err := d.now().Err; err == nil || !strings.Contains(err.Error(), "the round's time is up") {
			t.Errorf("told %v, want that the time is up", err)
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

// A coordinator that restarts in the middle of an upload, under the same announcement
// or none at all, gets all of it.
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

// A busy coordinator is asked again after the time it says, and not in step.
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
			return &wire.UploadReply{N: u.N, State: wire.UploadBusy, Wait: uint64(wait.Milliseconds())}
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
		if err := d.now().Err; err == nil || !strings.Contains(err.Error(), "the round's time is up") {
			t.Errorf("told %v, want that the time is up", err)
		}
	})
}

// A refusal is told and stands for its attempt; the next may have another answer.
func TestUploadRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, densePlan(threeDim))
		d := h.device("d0", bowlLoss(threeDim, 0))
		h.vault.judge = func(_ string, u wire.Upload) *wire.UploadReply {
			return &wire.UploadReply{N: u.N, State: wire.UploadRefused}
		}
		h.announce()
		if p := d.now(); p.State != client.Waiting || p.Contributed || p.Err == nil || !strings.Contains(p.Err.Error(), "refused the vector") {
			t.Errorf("told %+v, want the refusal", p)
		}
		h.announce()
		if at := offsets(h.pieces()); !slices.Equal(at, []int{0}) {
			t.Errorf("pieces at %v, want one", at)
		}
		h.vault.judge = nil
		h.announce(func(a *wire.Announcement) { a.Attempt++ })
		h.oneVector()
		if p := d.now(); !p.Contributed || p.Err != nil {
			t.Errorf("told %+v, want the contribution", p)
		}
		h.put(h.madeUp(), 1)
		h.denseRound()
	})
}

// Pieces that nobody answers, or with what is no answer, are sent again after pauses
// until the round is over, and the next round is another chance.
func TestUploadNotAnswered(t *testing.T) {
	garbage := map[string]func(u wire.Upload) []byte{
		"silence":  func(wire.Upload) []byte { return nil },
		"no frame": func(wire.Upload) []byte { return []byte{1, 2} },
		"another record": func(u wire.Upload) []byte {
			return (&wire.UploadReply{N: u.N + 1, State: wire.UploadTaken}).Append(nil)
		},
		"beyond the end": func(u wire.Upload) []byte {
			return (&wire.UploadReply{N: u.N, State: wire.UploadMore, Offset: u.Size + u.Offset%8 + 4}).Append(nil)
		},
		"at the end": func(u wire.Upload) []byte {
			return (&wire.UploadReply{N: u.N, State: wire.UploadMore, Offset: u.Size}).Append(nil)
		},
		"never any further": func(u wire.Upload) []byte { return (&wire.UploadReply{N: u.N, State: wire.UploadMore}).Append(nil) },
		"to and fro": func(u wire.Upload) []byte {
			return (&wire.UploadReply{N: u.N, State: wire.UploadMore, Offset: wire.MaxPiece - min(u.Offset, wire.MaxPiece)}).Append(nil)
		},
		"busy for no time": func(u wire.Upload) []byte { return (&wire.UploadReply{N: u.N, State: wire.UploadBusy}).Append(nil) },
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
					t.Errorf("told %+v, want what was in the way", p)
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
		told := false
		for _, p := range d.progress() {
			told = told || p.Err != nil && strings.Contains(p.Err.Error(), "a later round was announced")
		}
		if !told {
			t.Error("the recorder was not told that a later round was announced")
		}
	})
}

// The recorder sees an upload come forward.
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
					t.Errorf("told %+v", p)
				}
			}
		}
		if !slices.Equal(at, []int{0, wire.MaxPiece, 2 * wire.MaxPiece}) {
			t.Errorf("told of %v bytes", at)
		}
	})
}

// Weights are those of an objective's samples, and declines are replies as ever: of a
// loss that fails, and of a vector that no coordinator takes.
func TestDenseDeclines(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := densePlan(small)
		p.Weights, p.Steps = wire.BySamples, 1 // so that the only large numbers are the vector's
		h, o := newHost(t, p), newMoody(t)
		o.samples = func() int { return 7 }
		d := h.device("d0", o)
		if came := h.denseRound(); came[0].Weight != 7 {
			t.Errorf("weight %d, want 7", came[0].Weight)
		}
		o.mood = func(context.Context, []float32) (float64, error) { return 0, errors.New("out of memory") }
		h.announce()
		h.declines(wire.DeclineLoss)
		o.mood = nil
		d.progress()
		h.announce(func(a *wire.Announcement) { a.Step, a.Attempt = 1e20, 1 })
		if r := h.one(wire.Decline); r.Reason != wire.DeclineTooLarge && r.Reason != wire.DeclineLoss {
			t.Errorf("declined with %v, want too large", r.Reason)
		}
		if p := d.now(); p.Declined == 0 || p.Err == nil {
			t.Errorf("told %+v, want a decline and why", p)
		}
		h.announce(func(a *wire.Announcement) { a.Step, a.Attempt = 3e12, 2 })
		h.declines(wire.DeclineTooLarge)
		if err := d.now().Err; err == nil || !strings.Contains(err.Error(), "max_scalar") {
			t.Errorf("told %v, want the limit", err)
		}
		h.announce(func(a *wire.Announcement) { a.Attempt = 3 })
		h.oneVector()
	})
}

// A device that may not send vectors, or fetch them, ends with that.
func TestDensePermissions(t *testing.T) {
	for _, subject := range []string{"zo.t.u.*", "zo.t.d.*"} {
		bubble(t, func(t *testing.T) {
			h := newHost(t, densePlan(small))
			h.bus.DenyPublish(subject)
			d := h.device("d0", bowlLoss(small, 0))
			if subject == "zo.t.d.*" {
				h.commit()
			}
			h.announce()
			pass(5 * time.Second)
			if err := d.result(); !errors.Is(err, bus.ErrPermission) {
				t.Errorf("%s: Run returned %v, want %v", subject, err, bus.ErrPermission)
			}
		})
	}
}

// An upload that is not this device's, or damaged, is set aside and made anew.
func TestUnusableUpload(t *testing.T) {
	damage := map[string]func([]byte) []byte{
		"empty":     func([]byte) []byte { return nil },
		"torn":      func(b []byte) []byte { return b[:len(b)-1] },
		"head only": func(b []byte) []byte { return b[:20] },
		"longer":    func(b []byte) []byte { return append(b, 0) },
		"huge":      func(b []byte) []byte { return append(b, make([]byte, 1<<20)...) },
	}
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

// A store that cannot keep a vector is told once; the vector is sent.
func TestUploadNotKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, densePlan(small)), newStore(t)
		full := errors.New("no space left on device")
		store.fails(full, "upload")
		d := h.device("d0", bowlLoss(small, 0), with(store))
		for range 3 {
			h.denseRound()
		}
		told := 0
		for _, p := range d.progress() {
			if errors.Is(p.Err, client.ErrStore) && errors.Is(p.Err, full) {
				told++
			}
		}
		if told != 1 {
			t.Errorf("told %d times that the store is full, want once", told)
		}
	})
}

// A coordinator that lost its members refuses the vectors of devices that it does not
// know, and takes them once they have joined again, in the same attempt.
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
		if n := len(h.pieces()); n != 4 { // of two rounds, the refusal, and again
			t.Errorf("%d pieces, want 4", n)
		}
	})
}

// A repeated announcement of a record whose vector was taken ends no evaluation.
func TestDenseEvaluation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := densePlan(small)
		p.EvalEvery, p.EvalCount, p.Metrics = 1, 1, []string{"m"}
		h, o := newHost(t, p), newMoody(t)
		o.metrics = func(ctx context.Context, _ []float32) ([]float64, int, error) {
			select {
			case <-time.After(25 * time.Second):
				return []float64{1}, 1, nil
			case <-ctx.Done():
				return nil, 0, context.Cause(ctx)
			}
		}
		h.device("d0", o)
		h.announce()
		h.oneVector()
		pass(5 * time.Second)
		h.announce()
		pass(20 * time.Second)
		h.one(wire.Evaluation)
	})
}
