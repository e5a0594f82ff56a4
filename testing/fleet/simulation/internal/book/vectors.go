package book

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// vectors is a book's knowledge with transport=dense: the vectors that devices sent, and the
// vectors that records name.
type vectors struct {
	sent  map[vectorID]*sentVector
	there map[runlog.ObjectName][]byte    // in the log's store
	bytes map[[wire.ObjectLen]byte][]byte // all that were ever stored
}

// A vectorID identifies a vector that a device sent. The id is the head of the vector's first
// piece, without the offset.
type vectorID struct {
	answer
	head string
}

// A sentVector is a device's vector as far as the device has sent it, and the recipients.
type sentVector struct {
	head   wire.Upload
	data   []byte
	known  []bool
	life   Process // process that sent the last piece
	end    uint64  // end of that piece
	came   map[Process][]bool
	epochs map[uint64]bool // epochs of the coordinators that all of it reached
	values []float64
}

func newVectors() vectors {
	return vectors{
		sent: map[vectorID]*sentVector{}, there: map[runlog.ObjectName][]byte{},
		bytes: map[[wire.ObjectLen]byte][]byte{},
	}
}

// headOf returns an upload without its piece.
func headOf(u wire.Upload) []byte {
	u.Offset, u.Data, u.Rest = 0, nil, nil
	return u.Append(nil)
}

// Uploaded checks a piece that a device sends. The piece must belong to a state of some log and to
// the vector that the device sent before, and have the same bytes.
func (b *Book) Uploaded(p Process, id string, frame []byte) {
	u, err := wire.DecodeUpload(frame)
	if err != nil {
		b.world.Find("frames decode", "%v: piece: %v", p, err)
		return
	}
	b.world.Count("piece")
	a := answer{device: id, n: u.N, tip: u.Tip}
	b.contributed(p, a, headOf(u))
	v := b.vectors.sent[vectorID{a, string(headOf(u))}]
	if v == nil {
		v = &sentVector{
			head: u, data: make([]byte, u.Size), known: make([]bool, u.Size),
			came: map[Process][]bool{}, epochs: map[uint64]bool{},
		}
		b.vectors.sent[vectorID{a, string(headOf(u))}] = v
	}
	if v.life != p {
		v.life, v.end = p, 0
	}
	if u.Offset > v.end {
		b.world.Count("upload resumed by another life")
	}
	v.end = u.Offset + uint64(len(u.Data))
	for i, c := range u.Data {
		at := int(u.Offset) + i
		if v.known[at] && v.data[at] != c {
			b.world.Find("a vector is sent as it is", "%v: record %d: byte %d is %d, before %d",
				p, u.N, at, c, v.data[at])
		}
		v.data[at], v.known[at] = c, true
	}
	if v.values == nil && !slices.Contains(v.known, false) {
		if wire.HashObject(v.data) != u.Digest {
			b.world.Find("a vector is sent as it is",
				"%v: record %d: what it sent has another digest than it says", p, u.N)
		}
		v.values = floatsOf(v.data)
	}
}

// cameUpload records that a piece reaches a coordinator.
func (b *Book) cameUpload(to Process, m *bus.Message) {
	u, err := wire.DecodeUpload(m.Data)
	if err != nil {
		return
	}
	a := answer{device: subjects.ID(m.Subject), n: u.N, tip: u.Tip}
	v := b.vectors.sent[vectorID{a, string(headOf(u))}]
	if v.came[to] == nil {
		v.came[to] = make([]bool, u.Size)
	}
	for i := range u.Data {
		v.came[to][int(u.Offset)+i] = true
	}
	if slices.Contains(v.came[to], false) {
		return
	}
	for epoch, p := range b.begun {
		if p == to {
			v.epochs[epoch], b.made[a][epoch] = true, true
		}
	}
}

// mean checks the vector of a round with transport=dense. The log stored the vector before the
// record. The vector is the exact mean of device vectors that reached the record's author: as many
// as the record says, each once.
func (b *Book) mean(r *wire.Record, plan *plan.Plan) {
	name := nameOf(r)
	object, ok := b.vectors.there[name]
	if !ok {
		b.world.Find("a vector is stored before its record",
			"record %d names %v, which the log does not have", r.N, name)
		return
	}
	b.world.Count("dense " + plan.Control.String() + " " + plan.Estimator.String())
	if got, want := uint64(len(object)), 4*plan.Object(r.Round.Phase); got != want {
		b.world.Find("means are exact", "record %d names %d bytes, want %d", r.N, got, want)
		return
	}
	var devices [][]*sentVector
	for d := range b.scenario.Devices {
		var of []*sentVector
		a := b.answerTo(d, r.N)
		for id, v := range b.vectors.sent {
			if id.answer == a && v.epochs[r.Epoch] && len(v.values) == len(object)/4 {
				of = append(of, v)
			}
		}
		if of != nil {
			devices = append(devices, of)
		}
	}
	if !b.solves(floatsOf(object), devices, int(r.Round.Contributors), nil) {
		b.world.Find("means are exact",
			"record %d of epoch %d names a vector that is no mean of %d of %d devices' vectors",
			r.N, r.Epoch, r.Round.Contributors, len(devices))
	}
}

// solves reports whether mean is the mean of the vectors in taken and of more vectors of other
// devices.
func (b *Book) solves(mean []float64, devices [][]*sentVector, more int, taken []*sentVector) bool {
	if more == 0 {
		return b.isMean(mean, taken)
	}
	if len(devices) < more {
		return false
	}
	for _, v := range devices[0] {
		if b.solves(mean, devices[1:], more-1, append(taken[:len(taken):len(taken)], v)) {
			return true
		}
	}
	return b.solves(mean, devices[1:], more, taken)
}

// isMean reports whether mean is the weighted mean of vectors, rounded once.
func (b *Book) isMean(mean []float64, of []*sentVector) bool {
	total := int64(0)
	weights := make([]int64, len(of))
	for i, v := range of {
		weights[i] = 1
		if b.scenario.Plan.Weights == plan.BySamples {
			weights[i] = int64(v.head.Weight)
		}
		total += weights[i]
	}
	for at, want := range mean {
		near, size := 0.0, 0.0
		for i, v := range of {
			near += float64(weights[i]) * v.values[at] / float64(total)
			size += float64(weights[i]) * math.Abs(v.values[at]) / float64(total)
		}
		if math.Abs(near-want) > 1e-6*size+math.SmallestNonzeroFloat32 {
			return false // as far as float64 can tell
		}
	}
	for at, want := range mean {
		sum := new(big.Rat)
		for i, v := range of {
			one := new(big.Rat).SetFloat64(v.values[at])
			sum.Add(sum, one.Mul(one, big.NewRat(weights[i], total)))
		}
		if got, _ := sum.Float32(); float64(got) != want {
			return false
		}
	}
	return true
}

func floatsOf(data []byte) []float64 {
	values := make([]float64, len(data)/4)
	for i := range values {
		values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	}
	return values
}

// nameOf returns the name of a round's vector.
func nameOf(r *wire.Record) runlog.ObjectName {
	return runlog.ObjectName{N: r.N, Epoch: r.Epoch, Digest: [wire.ObjectLen]byte(r.Round.Object)}
}

// Put records that the log has a vector.
func (b *Book) Put(p Process, name runlog.ObjectName, data []byte) {
	b.world.Note(p, "has %d bytes of record %d stored", len(data), name.N)
	if wire.HashObject(data) != name.Digest {
		b.world.Find("means are exact", "%v stores a vector of record %d under another digest", p, name.N)
	}
	b.vectors.there[name] = bytes.Clone(data)
	b.vectors.bytes[name.Digest] = b.vectors.there[name]
}

// Stored returns the vectors that the log has now.
func (b *Book) Stored() map[runlog.ObjectName][]byte { return maps.Clone(b.vectors.there) }

// Object returns a vector that the log has.
func (b *Book) Object(name runlog.ObjectName) ([]byte, bool) {
	data, ok := b.vectors.there[name]
	return data, ok
}

// VectorOf reports whether the log has a vector of record n.
func (b *Book) VectorOf(n uint64) bool {
	for name := range b.vectors.there {
		if name.N == n {
			return true
		}
	}
	return false
}

// Within reports whether a process has sent a part of a vector for the next record.
func (b *Book) Within(p Process) bool {
	for _, v := range b.vectors.sent {
		if v.life == p && v.head.N == uint64(len(b.chain))+1 && v.end > 0 && v.end < v.head.Size {
			return true
		}
	}
	return false
}

// Keep records that the log deletes the vectors of records up to n, except the named vectors.
func (b *Book) Keep(n uint64, names []runlog.ObjectName) {
	maps.DeleteFunc(b.vectors.there, func(name runlog.ObjectName, _ []byte) bool {
		return name.N <= n && !slices.Contains(names, name)
	})
	if n == uint64(len(b.chain)) && !slices.Equal(names, b.Kept()) {
		b.world.Find("one vector for each record that is kept", "after record %d %v are kept, want %v",
			n, names, b.Kept())
	}
	b.lacking()
}

// lacking checks that the log has a vector for each record whose vector the log must keep.
func (b *Book) lacking() {
	for _, name := range b.Kept() {
		if _, ok := b.vectors.there[name]; !ok {
			b.world.Find("one vector for each record that is kept",
				"after record %d there is none of record %d", len(b.chain), name.N)
		}
	}
}

// Kept returns the vectors that the log must have after its last record: the latest vectors on the
// path to the state, and those that the last rollback left, until a round follows the rollback.
func (b *Book) Kept() []runlog.ObjectName {
	p := b.scenario.Plan
	if p.Transport != plan.DenseVectors {
		return nil
	}
	var path, left []runlog.ObjectName
	for i := range b.chain {
		switch r := &b.chain[i].record; r.Kind {
		case wire.KindRound:
			path, left = append(path, nameOf(r)), nil
			path = path[max(0, len(path)-max(int(p.DenseKeep), p.Phases())):]
		case wire.KindRollback:
			live := b.left(r.To)
			all := slices.Concat(path, left)
			gone := func(o runlog.ObjectName) bool { return !live[o.N] }
			path = slices.DeleteFunc(slices.Clone(all), gone)
			left = slices.DeleteFunc(all, func(o runlog.ObjectName) bool { return !gone(o) })
			byRecord(path)
		}
	}
	path = append(path, left...)
	byRecord(path)
	return path
}

func byRecord(names []runlog.ObjectName) {
	slices.SortFunc(names, func(a, b runlog.ObjectName) int { return int(a.N) - int(b.N) })
}

// complete gives a replica the vectors that the replica lacks.
func (b *Book) complete(r *replica.Replica) error {
	for _, o := range r.Missing() {
		if err := r.Supply(o.Digest, b.vectors.bytes[o.Digest]); err != nil {
			return fmt.Errorf("vector of record %d: %w", o.N, err)
		}
	}
	return nil
}

// brought checks a piece of a record's vector.
func (b *Book) brought(p Process, frame []byte) {
	r, err := wire.DecodeObjectReply(frame)
	switch {
	case err != nil:
		b.world.Find("frames decode", "%v: object reply: %v", p, err)
	case r.Size == 0:
		b.world.Count("vector gone")
	case r.Offset > 0:
		b.world.Count("object piece")
	}
}
