package client_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A vault holds a host's vectors. The host's lock guards it.
type vault struct {
	objects map[[wire.ObjectLen]byte][]byte // vectors of records; nil: gone
	archive map[[wire.ObjectLen]byte][]byte // all vectors, for the witness
	coming  map[string][]byte               // by device
	taken   []vectorUpload
	pieces  []piece         // pieces that arrived
	asked   []objectRequest // pieces of objects
	most    int             // bytes of an object in a reply
	judge   func(id string, u wire.Upload) *wire.UploadReply
}

// A vectorUpload is a complete upload of a device.
type vectorUpload struct {
	wire.Upload
	id     string
	vector []byte
}

// A piece is the offset and length of a piece that arrived.
type piece struct {
	id           string
	n            uint64
	offset, size int
}

// An objectRequest is a request for a piece of an object.
type objectRequest struct {
	id     string
	digest [wire.ObjectLen]byte
	offset uint64
}

func (h *host) serveVectors() {
	v := &h.vault
	v.objects, v.archive = map[[wire.ObjectLen]byte][]byte{}, map[[wire.ObjectLen]byte][]byte{}
	v.coming, v.most = map[string][]byte{}, wire.MaxPiece
	h.subscribe(subjects.AllUploads(runName), h.upload)
	h.subscribe(subjects.AllObjects(runName), h.object)
}

// upload takes a piece. Unlike a coordinator, the host has memory for any number of vectors.
func (h *host) upload(m bus.Message) {
	u, err := wire.DecodeUpload(m.Data)
	if err != nil {
		h.t.Errorf("upload: %v", err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	id := subjects.ID(m.Subject)
	h.vault.pieces = append(h.vault.pieces, piece{id, u.N, int(u.Offset), len(u.Data)})
	if h.answer != nil && h.answer(m) {
		return
	}
	reply := wire.UploadReply{N: u.N}
	if other := h.judged(id, u); other != nil {
		reply = *other
	} else {
		reply.State, reply.Offset = h.vault.add(h.t, id, u)
	}
	h.publish(m.Reply, reply.Append(nil))
}

func (h *host) judged(id string, u wire.Upload) *wire.UploadReply {
	if u.N != h.last()+1 || u.Tip != h.tip().Tip() {
		return &wire.UploadReply{N: u.N, State: wire.UploadRefused}
	}
	if h.vault.judge == nil {
		return nil
	}
	return h.vault.judge(id, u)
}

func (v *vault) add(t testing.TB, id string, u wire.Upload) (wire.UploadState, uint64) {
	for _, old := range v.taken {
		if old.id == id && old.N == u.N {
			return wire.UploadTaken, 0
		}
	}
	have := v.coming[id]
	if u.Offset == uint64(len(have)) {
		have = append(have, u.Data...)
		v.coming[id] = have
	}
	if uint64(len(have)) < u.Size {
		return wire.UploadMore, uint64(len(have))
	}
	if wire.HashObject(have) != u.Digest {
		t.Errorf("%s: vector of digest %x, want %x", id, wire.HashObject(have), u.Digest)
	}
	v.taken = append(v.taken, vectorUpload{u, id, have})
	delete(v.coming, id)
	return wire.UploadTaken, 0
}

// object answers a request for a piece of an object.
func (h *host) object(m bus.Message) {
	request, err := wire.DecodeObjectRequest(m.Data)
	if err != nil {
		h.t.Errorf("object: %v", err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.vault.asked = append(h.vault.asked, objectRequest{subjects.ID(m.Subject), request.Digest,
		request.Offset})
	if h.answer != nil && h.answer(m) {
		return
	}
	data := h.vault.objects[request.Digest]
	reply := wire.ObjectReply{Size: uint64(len(data)), Offset: request.Offset}
	if rest := data[min(request.Offset, uint64(len(data))):]; len(rest) > 0 {
		reply.Data = rest[:min(len(rest), h.vault.most, int(request.MaxBytes))]
	}
	h.publish(m.Reply, reply.Append(nil))
}

// vectors returns the uploads that devices completed since the last call.
func (h *host) vectors() []vectorUpload {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	came := h.vault.taken
	h.vault.taken = nil
	return came
}

// oneVector returns the only upload since the last call.
func (h *host) oneVector() vectorUpload {
	h.t.Helper()
	came := h.vectors()
	if len(came) != 1 {
		h.t.Fatalf("%d vectors arrived, want one; pieces %v", len(came), h.pieces())
	}
	return came[0]
}

// pieces returns the pieces that arrived since the last call.
func (h *host) pieces() []piece {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	pieces := h.vault.pieces
	h.vault.pieces = nil
	return pieces
}

// fetched returns which pieces of objects devices requested since the last call.
func (h *host) fetched() []objectRequest {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	asked := h.vault.asked
	h.vault.asked = nil
	return asked
}

// restart forgets the uploads, and begins another epoch.
func (h *host) restart() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.epoch++
	h.vault.coming, h.vault.taken = map[string][]byte{}, nil
}

// put commits a round, or a phase of one, with a vector.
func (h *host) put(vector []byte, contributors int) []byte {
	digest := wire.HashObject(vector)
	h.mu.Lock()
	h.vault.objects[digest], h.vault.archive[digest] = vector, vector
	h.vault.taken, h.vault.coming = nil, map[string][]byte{}
	h.mu.Unlock()
	return h.conclude(wire.Round{Object: digest[:], Contributors: uint32(contributors)})
}

// gone deletes all vectors except those of the last records.
func (h *host) gone(keep int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept := map[[wire.ObjectLen]byte][]byte{}
	for n := len(h.records); n > 0 && len(kept) < keep; n-- {
		r, err := wire.DecodeRecord(h.records[n-1])
		if err == nil && r.Kind == wire.KindRound {
			d := [wire.ObjectLen]byte(r.Round.Object)
			kept[d] = h.vault.archive[d]
		}
	}
	h.vault.objects = kept
}

// madeUp returns a vector for the next record that differs from all other vectors.
func (h *host) madeUp() []byte {
	phase, _ := h.phase()
	var b []byte
	for i := range h.plan.Object(phase) {
		b = binary.LittleEndian.AppendUint32(b,
			math.Float32bits(float32(math.Sin(float64(i+100*h.last())))))
	}
	return b
}

// denseRound announces, collects the vectors, and commits their mean.
func (h *host) denseRound() []vectorUpload {
	h.t.Helper()
	h.announce()
	came := h.vectors()
	if len(came) == 0 {
		h.t.Fatalf("record %d: nobody sent a vector; replies %s", h.last()+1, kinds(h.take()))
	}
	h.put(meanVector(came), len(came))
	return came
}

// meanVector returns the exact mean of the vectors, rounded once.
func meanVector(came []vectorUpload) []byte {
	var b []byte
	for i := 0; i < len(came[0].vector); i += 4 {
		var sum mathx.ExactSum
		total := uint64(0)
		for _, c := range came {
			sum.Add(math.Float32frombits(binary.LittleEndian.Uint32(c.vector[i:])), c.Weight)
			total += uint64(c.Weight)
		}
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(sum.Mean(total)))
	}
	return b
}

// supply gives the witness the vectors that it lacks.
func (h *host) supply(w *replica.Replica) {
	h.t.Helper()
	for _, m := range w.Missing() {
		if err := w.Supply(m.Digest, h.vault.archive[m.Digest]); err != nil {
			h.t.Fatalf("witness: record %d: %v", m.N, err)
		}
	}
}

// densePlan is the plan of a run whose vectors take a few pieces each.
func densePlan(dim int) *plan.Plan {
	p := testPlan(dim)
	p.Transport, p.DenseKeep, p.Steps = plan.DenseVectors, 2, 2
	return p
}

// offsets returns the offsets of pieces.
func offsets(pieces []piece) []int {
	var at []int
	for _, p := range pieces {
		at = append(at, p.offset)
	}
	return at
}

// floats decodes a vector.
func floats(vector []byte) []float32 {
	x := make([]float32, len(vector)/4)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(vector[4*i:]))
	}
	return x
}

func sameFloats(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool {
		return math.Float32bits(x) == math.Float32bits(y)
	})
}

func (t vectorUpload) String() string {
	return fmt.Sprintf("%s: record %d, %d bytes %x", t.id, t.N, len(t.vector), t.Digest[:4])
}

func sameBytes(a, b vectorUpload) bool {
	return a.N == b.N && a.Tip == b.Tip && a.Digest == b.Digest && a.Weight == b.Weight &&
		a.Loss == b.Loss && bytes.Equal(a.vector, b.vector)
}
