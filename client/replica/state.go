package replica

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/zofl/zofl/client/replica/internal/digest"
	"github.com/zofl/zofl/client/replica/internal/packed"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// ErrState: the bytes are not a state file of the replica that [Config] describes; the text says
// what is wrong. No replica can use the file: set the file aside and replay the log.
var ErrState = errors.New("replica: bad state file")

// ErrForeign: a state file is good, but belongs to another run or model than [Config] names. Such
// an error matches [ErrState] too. Leave the file where it is, because the file may be the only
// copy of that model.
var ErrForeign = errors.New("replica: state of another run or model")

// A Rollback says that record N is a rollback to the state after record To.
type Rollback struct{ N, To uint64 }

// History is what a device must know about the log, beyond the state, to continue.
type History struct {
	// Rollbacks are the known rollbacks of the log, ascending.
	Rollbacks []Rollback
	// Snapshot is the record after which the device took the state from another program's file, while
	// the device has no proof that the file is right. Snapshot is 0 if the device replayed the state
	// from record 1, or has proof.
	Snapshot uint64
}

// A state file is its magic, LE32 of the head's length, the head, the SHA-256 of these three, the
// vectors, and the digest of the state. docs/state.md specifies every byte.
const (
	stateMagic  = "zofl state 1\n" // of a plan without registers
	stateMagic2 = "zofl state 2\n" // of a plan that can have registers
	prefixLen   = len(stateMagic) + 4
	sumLen      = sha256.Size
	// maxHead limits the bytes that a program reads before any check.
	maxHead = 4 << 20
	// maxRollbacks is how many rollbacks a head can have. Save keeps only the last rollbacks; the log
	// has the earlier rollbacks.
	maxRollbacks = 1 << 16
)

// Save writes the state to w as a state file, from which [Load] makes a replica that continues with
// the same bits. Save allocates one block, whatever the model's size. The error is an error of w,
// [ErrOrder] before record 1, or [ErrObject] while an object is missing.
func (r *Replica) Save(w io.Writer, h History) error {
	if r.n == 0 {
		return fmt.Errorf("%w: there is no state before record 1", ErrOrder)
	}
	if missing := r.Missing(); missing != nil {
		return fmt.Errorf("%w: the state lacks the object of record %d: supply it, or save later",
			ErrObject, missing[0].N)
	}
	head := r.appendHead(appendPrefix(nil, hasRegisters(&r.plan)), h)
	binary.LittleEndian.PutUint32(head[len(stateMagic):], uint32(len(head)-prefixLen))
	sum := sha256.Sum256(head)
	if _, err := w.Write(append(head, sum[:]...)); err != nil {
		return err
	}
	d, err := r.saveVectors(w)
	if err != nil {
		return err
	}
	_, err = w.Write(d[:])
	return err
}

// saveVectors writes the vectors, unless the registers determine them, and returns the digest.
func (r *Replica) saveVectors(w io.Writer) (sum [32]byte, err error) {
	if r.rebased() {
		return r.Digest(), nil
	}
	vectors := r.vectors()
	root := digest.Root(uint64(len(r.x)), len(vectors))
	for _, v := range vectors {
		if err := saveVector(w, root, v); err != nil {
			return sum, err
		}
	}
	return r.seal(root), nil
}

// rebased reports whether the registers alone determine the vectors, so that a file needs no
// vectors: after every E-th round of a pool.
func (r *Replica) rebased() bool {
	return r.pool != nil && r.rounds > 0 && r.rounds%uint64(r.plan.Rebase) == 0
}

// saveVector writes v and adds its blocks to the digest.
func saveVector(w io.Writer, root hash.Hash, v []float32) error {
	var block [4 * prng.BlockLen]byte
	var leaf [sumLen]byte
	for len(v) > 0 {
		n := digest.PutBlock(block[:], v)
		if _, err := w.Write(block[:4*n]); err != nil {
			return err
		}
		leaf = sha256.Sum256(block[:4*n])
		root.Write(leaf[:])
		v = v[n:]
	}
	return nil
}

// appendPrefix appends the bytes before the head. The length in them is 0; Save sets it later.
func appendPrefix(b []byte, registers bool) []byte {
	magic := stateMagic
	if registers {
		magic = stateMagic2
	}
	return append(append(b, magic...), 0, 0, 0, 0)
}

func (r *Replica) appendHead(b []byte, h History) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, r.n)
	b = append(b, r.hash[:]...)
	b = le.AppendUint64(b, r.epoch)
	b = le.AppendUint64(b, r.rounds)
	b = le.AppendUint64(b, h.Snapshot)
	b = le.AppendUint64(b, uint64(len(r.x)))
	vectors := len(r.vectors())
	if r.rebased() {
		vectors = 0
	}
	b = le.AppendUint32(b, uint32(vectors))
	b = packed.AppendBytes(b, r.first)
	b = packed.AppendBytes(b, r.changes())
	b = packed.AppendBytes(b, r.end())
	rollbacks := h.Rollbacks[max(0, len(h.Rollbacks)-maxRollbacks):]
	b = le.AppendUint32(b, uint32(len(rollbacks)))
	for _, back := range rollbacks {
		b = le.AppendUint64(le.AppendUint64(b, back.N), back.To)
	}
	if hasRegisters(&r.plan) {
		b = digest.AppendWords(b, r.registers())
	}
	return b
}

// changes returns one change record that turns the plan of record 1 into the present one, with n =
// the last record, prev and epoch 0. The record is empty if no field changed.
func (r *Replica) changes() []byte {
	first, err := wire.DecodeRecord(r.first)
	if err != nil {
		panic("replica: internal error: record 1 was applied and does not decode: " + err.Error())
	}
	was, is := changeOf(first.Plan), changeOf(&r.plan)
	var fields []uint64
	var old, now []byte
	for _, f := range plan.Fields() {
		if !f.Changeable {
			continue
		}
		field := []uint64{f.Number}
		was.Change.Fields, is.Change.Fields = field, field
		if old, now = was.Append(old[:0]), is.Append(now[:0]); !bytes.Equal(old, now) {
			fields = append(fields, f.Number)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	is.N, is.Change.Fields = r.n, fields
	return is.Append(nil)
}

// changeOf returns a change to the values of p. The caller sets its Fields. The caller reuses one
// change for all fields, because a change holds a whole plan.
func changeOf(p *plan.Plan) *wire.Record {
	return &wire.Record{N: 2, Kind: wire.KindChange, Change: &plan.Change{Values: *p}}
}

// end returns the record of the run's end, with prev and epoch 0; empty before the end.
func (r *Replica) end() []byte {
	if r.ended == nil {
		return nil
	}
	end := wire.Record{N: r.n, Kind: wire.KindEnd, End: r.ended}
	return end.Append(nil)
}
