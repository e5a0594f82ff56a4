package replica

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/zofl/zofl/client/replica/internal/packed"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

// A Head is the part of a state file that precedes the vectors.
type Head struct {
	N       uint64    // last record applied
	Hash    wire.Hash // of record N
	Epoch   uint64    // of record N
	Rounds  uint64
	First   []byte     // record 1
	Plan    *plan.Plan // with the changes up to record N
	Ended   *wire.End  // nil while the run goes on
	Vectors int        // of Plan.Dim float32 each
	History
	registers []uint64
}

// size returns the length of the file in bytes.
func (h *Head) size(headLen int) int64 {
	return int64(prefixLen+headLen+2*sumLen) + 4*int64(h.Vectors)*int64(h.Plan.Dim)
}

// ReadHead reads and checks the head of a state file, at most a few MiB, and nothing after it. The
// error matches [ErrState], or is an error of r.
func ReadHead(r io.Reader) (Head, error) {
	prefix := make([]byte, prefixLen)
	if err := readAll(r, prefix); err != nil {
		return Head{}, err
	}
	n, err := headLen(prefix)
	if err != nil {
		return Head{}, err
	}
	var rest bytes.Buffer // grows with the bytes that arrive, not with the claimed length
	if _, err := io.CopyN(&rest, r, int64(n+sumLen)); err != nil {
		return Head{}, truncated(err)
	}
	return parseHead(append(prefix, rest.Bytes()...))
}

func readAll(r io.Reader, p []byte) error {
	_, err := io.ReadFull(r, p)
	return truncated(err)
}

// truncated turns an unexpected end of file into an ErrState.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return badState("it ends in the head")
	}
	return err
}

func badState(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrState}, args...)...)
}

// headLen returns the length of the head that the prefix announces.
func headLen(prefix []byte) (int, error) {
	if magic := string(prefix[:len(stateMagic)]); magic != stateMagic && magic != stateMagic2 {
		return 0, badState("it begins with %q, not %q", magic, stateMagic)
	}
	n := binary.LittleEndian.Uint32(prefix[len(stateMagic):])
	if n > maxHead {
		return 0, badState("a head of %d bytes", n)
	}
	return int(n), nil
}

// parseHead decodes and checks everything that precedes the vectors.
func parseHead(b []byte) (Head, error) {
	body, sum := b[:len(b)-sumLen], b[len(b)-sumLen:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return Head{}, badState("the head's checksum is wrong")
	}
	d := packed.Reader{Left: body[prefixLen:]}
	h := Head{N: d.Uint64()}
	copy(h.Hash[:], d.Take(len(h.Hash)))
	h.Epoch, h.Rounds, h.Snapshot = d.Uint64(), d.Uint64(), d.Uint64()
	dim := d.Uint64()
	h.Vectors = int(d.Uint32())
	h.First = bytes.Clone(d.Bytes(maxHead))
	change, end := d.Bytes(maxHead), d.Bytes(maxHead)
	h.Rollbacks = readRollbacks(&d)
	second := string(b[:len(stateMagic)]) == stateMagic2
	if second {
		h.registers = d.Words()
	}
	if d.Short || len(d.Left) > 0 {
		return Head{}, badState("the head's lengths do not fit")
	}
	if err := h.decode(change, end); err != nil {
		return Head{}, fmt.Errorf("%w: %w", ErrState, err)
	}
	if second != hasRegisters(h.Plan) {
		return Head{}, badState("its format is not that of its plan")
	}
	if !canHave(h.Plan, len(h.registers)) {
		return Head{}, badState("%d registers, which its plan cannot have", len(h.registers))
	}
	want := h.Plan.StateVectors()
	if h.rebased() {
		want = 0
	}
	if dim != h.Plan.Dim || h.Vectors != want {
		return Head{}, badState("%d vectors of %d parameters, the plan has %d of %d",
			h.Vectors, dim, want, h.Plan.Dim)
	}
	return h, h.check()
}

// decode reads the records of the head.
func (h *Head) decode(change, end []byte) error {
	first, err := wire.DecodeRecord(h.First)
	if err != nil {
		return err
	}
	if first.Kind != wire.KindPlan || first.Prev != wire.Genesis(first.Plan.Run) {
		return errors.New("record 1 begins no run")
	}
	h.Plan = first.Plan
	if len(change) > 0 {
		r, err := decodeKind(change, wire.KindChange)
		if err != nil {
			return err
		}
		r.Change.Apply(h.Plan)
	}
	if len(end) > 0 {
		r, err := decodeKind(end, wire.KindEnd)
		if err != nil {
			return err
		}
		h.Ended = r.End
	}
	return valid.Plan(h.Plan)
}

func decodeKind(b []byte, kind wire.RecordKind) (wire.Record, error) {
	r, err := wire.DecodeRecord(b)
	if err == nil && r.Kind != kind {
		err = fmt.Errorf("a record of kind %v in the place of %v", r.Kind, kind)
	}
	return r, err
}

// check reports an error unless the head can belong to a state.
func (h *Head) check() error {
	switch {
	case h.N == 0 || max(h.N, h.Epoch, h.Rounds, h.Snapshot) > math.MaxInt64:
		return badState("record %d of epoch %d, round %d", h.N, h.Epoch, h.Rounds)
	case h.N == 1 && h.Hash != wire.HashRecord(h.First):
		return badState("the hash is not that of record 1")
	}
	last := uint64(0)
	for _, back := range h.Rollbacks {
		if back.N <= last || back.To == 0 || back.To >= back.N {
			return badState("a rollback from record %d to %d", back.N, back.To)
		}
		last = back.N
	}
	return nil
}

// rebased is like the Replica's method rebased, for a head.
func (h *Head) rebased() bool {
	return h.Plan.Pool > 0 && h.Rounds > 0 && h.Rounds%uint64(h.Plan.Rebase) == 0
}

func readRollbacks(d *packed.Reader) []Rollback {
	n := d.Count(maxRollbacks, 16)
	if n == 0 {
		return nil
	}
	rollbacks := make([]Rollback, n)
	for i := range rollbacks {
		rollbacks[i] = Rollback{d.Uint64(), d.Uint64()}
	}
	return rollbacks
}
