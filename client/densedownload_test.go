package client_test

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// denseMethods are plans with transport=dense.
var denseMethods = []struct {
	name string
	edit func(*plan.Plan)
}{
	{"model", func(p *plan.Plan) {}},
	{"scaffold-1", func(p *plan.Plan) { p.Control = plan.ScaffoldPoint }},
	{"scaffold-2", func(p *plan.Plan) { p.Control = plan.ScaffoldMean }},
	{"svrg", func(p *plan.Plan) { p.Control, p.Steps = plan.SVRG, 2 }},
	{"surrogate", surrogatePlan},
}

// surrogatePlan edits p into a plan with estimator=surrogate, as in the preset fzoos.
func surrogatePlan(p *plan.Plan) {
	p.Estimator, p.Perturbations, p.Features, p.LengthScale, p.Noise, p.Window = plan.Surrogate, 1,
		20, 1, 1e-6, 30
	p.Active, p.Around, p.Candidates, p.Radius = 1, 1, 3, 0.01
}

// digest returns the digest of a record's vector.
func (h *host) digest(n uint64) [wire.ObjectLen]byte {
	h.t.Helper()
	r, err := wire.DecodeRecord(h.records[n-1])
	if err != nil || len(r.Round.Object) != wire.ObjectLen {
		h.t.Fatalf("record %d names no vector: %v", n, err)
	}
	return [wire.ObjectLen]byte(r.Round.Object)
}

// Whatever vectors a plan has, devices and passive replicas have the same state. A late joiner
// takes part at once: it fetches the records, and only the last vector of each kind.
func TestDenseLateJoiner(t *testing.T) {
	for _, tt := range denseMethods {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := densePlan(small)
				p.DigestEvery = 3
				tt.edit(p)
				h := newHost(t, p)
				d, w := h.device("d0", bowlLoss(small, 0)), h.passive("w", nil, 0)
				for range 3 * p.Phases() {
					h.denseRound()
				}
				for range 100 {
					h.commit()
				}
				h.gone(2)
				h.fetched()
				h.asked()
				late := h.device("d1", bowlLoss(small, 1))
				h.denseRound()
				var want []objectRequest
				for n := h.last() - uint64(p.Phases()); n < h.last(); n++ {
					want = append(want, objectRequest{"d1", h.digest(n), 0})
				}
				others := func(a objectRequest) bool { return a.id != "d1" }
				got := slices.DeleteFunc(h.fetched(), others)
				if !slices.Equal(got, want) {
					t.Errorf("asked for %x, want the last %d", got, len(want))
				}
				if came := h.denseRound(); len(came) != 2 {
					t.Errorf("%v arrived, want two vectors", came)
				}
				h.announce()
				for _, d := range []*device{d, w, late} {
					h.agrees(d, h.last())
				}
				reports := 0
				for _, r := range h.take() {
					if r.Kind == wire.DigestReport {
						want := h.witness(r.N).Digest()
						if reports++; r.Digest != [8]byte(want[:8]) || r.N%3 != 0 {
							t.Errorf("%s reported %x after record %d, want %x",
								r.id, r.Digest, r.N, want[:8])
						}
					}
				}
				if reports < 3 {
					t.Errorf("%d digests were reported", reports)
				}
			})
		})
	}
}

// While a device downloads a vector, the model is the last whole state, and there is no digest. An
// interrupted download resumes.
func TestDenseDownloadResumes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, densePlan(threeDim)), newStore(t)
		d := h.device("d0", bowlLoss(threeDim, 0), with(store),
			func(c *client.Config) { c.CheckpointEvery = 1 })
		h.denseRound()
		h.announce()
		before := d.params(threeDim)
		h.commit()
		h.fetched()
		d.progress()
		store.took()
		h.answers(func(m bus.Message) bool {
			request, err := wire.DecodeObjectRequest(m.Data)
			return err == nil && request.Offset > 0
		})
		h.announce()
		pass(3 * time.Second)
		x := make([]float32, threeDim)
		if n, err := d.Params(x); n != h.last()-1 || err != nil || !sameFloats(x, before) {
			t.Errorf("parameters of record %d, %v, want those of %d", n, err, h.last()-1)
		}
		if n, digest := d.Digest(); n != 0 || digest != [32]byte{} {
			t.Errorf("digest %x after record %d, want none", digest, n)
		}
		pass(time.Minute)
		reported := false
		for _, p := range d.progress() {
			reported = reported || p.State == client.CatchingUp && p.Err != nil
			if p.Contributed || errors.Is(p.Err, client.ErrStore) {
				t.Errorf("reported %+v of half a state", p)
			}
			if p.Vector > 0 && (p.Vector != h.last() || p.Size != threeSize ||
				p.Received > wire.MaxPiece) {
				t.Errorf("reported %+v", p)
			}
		}
		if !reported {
			t.Error("got no report that the vector does not come")
		}
		d.stop() // the device stores nothing of an incomplete state
		if saved := store.took(); slices.Contains(saved, "checkpoint") {
			t.Errorf("saved %v of a state that lacks a vector", saved)
		}
		d.run()
		h.answers(nil)
		h.fetched()
		h.announce()
		var at []uint64
		for _, a := range h.fetched() {
			at = append(at, a.offset)
		}
		if !slices.Equal(at, []uint64{wire.MaxPiece, 2 * wire.MaxPiece}) {
			t.Errorf("asked for pieces at %v, want the rest", at)
		}
		h.agrees(d, h.last())
		if n, _ := d.Params(x); n != h.last() ||
			!sameFloats(x, floats(h.vault.archive[h.digest(n)])) {
			t.Errorf("parameters of record %d, want %d", n, h.last())
		}
		h.oneVector()
	})
}

// Bytes that are not the vector of a record never become the model. At the next announcement, the
// device fetches the vector again.
func TestDenseWrongVector(t *testing.T) {
	lies := map[string]func(request wire.ObjectRequest, reply *wire.ObjectReply) []byte{
		"another bit": func(_ wire.ObjectRequest, r *wire.ObjectReply) []byte {
			r.Data[0] ^= 1
			return r.Append(nil)
		},
		"another size": func(_ wire.ObjectRequest, r *wire.ObjectReply) []byte {
			r.Size += 4
			return r.Append(nil)
		},
		"a huge one": func(_ wire.ObjectRequest, r *wire.ObjectReply) []byte {
			r.Size = 4 * plan.MaxDense
			return r.Append(nil)
		},
		"another place": func(_ wire.ObjectRequest, r *wire.ObjectReply) []byte {
			r.Offset++
			return r.Append(nil)
		},
		"nothing": func(_ wire.ObjectRequest, r *wire.ObjectReply) []byte {
			r.Data = nil
			return r.Append(nil)
		},
		"no frame": func(wire.ObjectRequest, *wire.ObjectReply) []byte { return []byte{9} },
	}
	for name, lie := range lies {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := newHost(t, densePlan(threeDim))
				d := h.device("d0", bowlLoss(threeDim, 0))
				h.denseRound()
				h.announce()
				h.vectors()
				h.commit()
				d.progress()
				h.answers(func(m bus.Message) bool {
					request, err := wire.DecodeObjectRequest(m.Data)
					if err != nil {
						return false
					}
					data := slices.Clone(h.vault.objects[request.Digest])
					reply := wire.ObjectReply{Size: uint64(len(data)), Offset: request.Offset}
					reply.Data = data[request.Offset:min(int(request.Offset)+wire.MaxPiece,
						len(data))]
					h.publish(m.Reply, lie(request, &reply))
					return true
				})
				h.fetched()
				h.announce()
				pass(20 * time.Second)
				if n := len(h.fetched()); name != "another bit" && name != "no frame" && n != 1 {
					t.Errorf("asked for %d pieces after what is no answer, want none", n-1)
				}
				reported := 0
				for _, p := range d.progress() {
					if p.Err != nil && strings.Contains(p.Err.Error(), "bad vector") {
						reported++
					}
				}
				if n, _ := d.Params(make([]float32, threeDim)); n != h.last()-1 || reported == 0 ||
					len(h.vectors()) > 0 {
					t.Errorf("parameters of record %d, reported %d times", n, reported)
				}
				h.fetched()
				h.answers(nil)
				h.announce()
				h.agrees(d, h.last())
				h.oneVector()
			})
		})
	}
}

// If no state can take a vector, the device reports that once, and does not fetch the vector twice.
func TestDenseUnusableVector(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, densePlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		h.denseRound()
		vector := h.madeUp()
		binary.LittleEndian.PutUint32(vector[8:], math.Float32bits(float32(math.Inf(1))))
		h.put(vector, 1)
		h.fetched()
		d.progress()
		for range 5 {
			h.announce()
			pass(5 * time.Second)
		}
		reported := 0
		for _, p := range d.progress() {
			if p.Err != nil && strings.Contains(p.Err.Error(), "element 2 is +Inf") {
				reported++
			}
		}
		bad := slices.DeleteFunc(h.fetched(),
			func(a objectRequest) bool { return a.digest != wire.HashObject(vector) })
		if n := len(bad); n != 1 || reported != 1 {
			t.Errorf("fetched %d times, reported %d times, want once", n, reported)
		}
		h.commit()
		h.announce()
		h.agrees(d, h.last())
	})
}
