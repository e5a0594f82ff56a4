package replica

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/zofl/zofl/wire"
)

// Load reads a state file of size bytes and returns its replica. It takes the
// memory of the replica and a little more, and that only after the head was
// checked against cfg and against size. A pool's file without vectors does not
// vouch for its d by its size, so it needs Config.Dim, or [ErrDim].
//
// Errors match [ErrState], and besides [ErrDim] or [ErrInitial] where the file
// is of another model than cfg's; others are r's. Config.Initial is compared
// with the plan's digest unless it is nil.
func Load(cfg Config, r io.Reader, size int64) (*Replica, History, error) {
	l := NewLoader(cfg, size)
	if _, err := io.Copy(l, r); err != nil {
		return nil, History{}, err
	}
	return l.Replica()
}

// A Loader makes a replica of a state file that arrives in pieces.
//
// Invariants:
//  1. It holds no more than the head, cut off at 4 MiB, before that was found
//     right and of cfg and size; then the replica.
//  2. After an error it takes nothing more.
type Loader struct {
	cfg  Config
	size int64
	err  error

	buffer []byte // what came of the next part that has to be whole
	need   int    // its length
	next   func(part []byte) error

	r       *Replica
	history History
	rest    [][]float32 // elements that did not come yet
}

// NewLoader returns a loader of a file of size bytes.
func NewLoader(cfg Config, size int64) *Loader {
	l := &Loader{cfg: cfg, size: size, need: prefixLen}
	l.next = l.prefix
	return l
}

// Write takes the file's next bytes. The error matches [ErrState].
func (l *Loader) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 && l.err == nil {
		if len(l.rest) > 0 && len(l.buffer) == 0 && len(p) >= 4 {
			p, l.err = l.elements(p)
			continue
		}
		p = l.collect(p)
	}
	if l.err != nil {
		l.r, l.rest, l.buffer = nil, nil, nil
		return written - len(p), l.err
	}
	return written, nil
}

// collect adds to the part that has to be whole, and hands it on once it is.
func (l *Loader) collect(p []byte) []byte {
	if l.need == 0 {
		l.err = badState("bytes after the end")
		return p
	}
	n := min(l.need-len(l.buffer), len(p))
	l.buffer = append(l.buffer, p[:n]...)
	if len(l.buffer) == l.need {
		part := l.buffer
		l.buffer = nil
		l.err = l.next(part)
	}
	return p[n:]
}

// prefix learns how long the head is.
func (l *Loader) prefix(part []byte) error {
	n, err := headLen(part)
	if err != nil {
		return err
	}
	if int64(prefixLen+n+2*sumLen) > l.size {
		return badState("a head of %d bytes in a file of %d", n, l.size)
	}
	l.buffer, l.need, l.next = part, prefixLen+n+sumLen, l.head
	return nil
}

// head checks the head and makes room for the vectors.
func (l *Loader) head(part []byte) error {
	h, err := parseHead(part)
	if err != nil {
		return err
	}
	if err := l.fits(&h, len(part)-prefixLen-sumLen); err != nil {
		return err
	}
	l.history = h.History
	runKey, err := h.Plan.Key(l.cfg.RunKey)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrState, err)
	}
	l.r = &Replica{
		cfg: l.cfg, n: h.N, hash: h.Hash, epoch: h.Epoch, rounds: h.Rounds, first: h.First, ended: h.Ended,
	}
	l.r.recruit()
	l.r.allocate(h.Plan, runKey, make([]float32, h.Plan.Dim))
	if !l.r.restore(h.registers) {
		return badState("registers that its plan cannot have")
	}
	l.r.settle()
	if again := l.r.appendHead(nil, h.History); !bytes.Equal(again, part[prefixLen:len(part)-sumLen]) {
		return badState("the head is not the form that is written")
	}
	if h.Vectors == 0 {
		l.r.expand()
		l.need, l.next = sumLen, l.digest
		return nil
	}
	l.rest, l.need, l.next = l.r.vectors(), 4, l.element
	return nil
}

// fits says whether the file is of the run, the model and the length that this
// loader is for.
func (l *Loader) fits(h *Head, headLen int) error {
	switch p := h.Plan; {
	case p.Run != l.cfg.Run:
		return fmt.Errorf("%w: %w", ErrState, (&Replica{cfg: l.cfg}).otherRun(p))
	case l.cfg.Dim == 0 && h.Vectors == 0:
		return fmt.Errorf("%w: %w: a file without vectors has %d, which nothing vouches for: give Config.Dim", ErrState, ErrDim, p.Dim)
	case l.cfg.Dim != 0 && p.Dim != l.cfg.Dim:
		return fmt.Errorf("%w: %w: the file has %d, this model %d", ErrState, ErrDim, p.Dim, l.cfg.Dim)
	case p.Dim > maxDim:
		return fmt.Errorf("%w: %w: %d do not fit this machine's memory", ErrState, ErrDim, p.Dim)
	case h.size(headLen) != l.size:
		return badState("%d bytes, want %d", l.size, h.size(headLen))
	case p.Pool > 0 && p.Initial == wire.Given && l.cfg.Initial == nil:
		return fmt.Errorf("%w: %w: a pool's coefficients are of the given parameters: give Config.Initial", ErrState, ErrInitial)
	case len(p.InitialDigest) > 0 && l.cfg.Initial != nil:
		if err := checkGiven(p, l.cfg.Initial); err != nil {
			return fmt.Errorf("%w: %w", ErrState, err)
		}
	}
	return nil
}

// element takes one that came in parts.
func (l *Loader) element(part []byte) error {
	_, err := l.elements(part)
	return err
}

// elements takes the vectors' next elements and returns what it left of p.
func (l *Loader) elements(p []byte) ([]byte, error) {
	v := l.rest[0]
	n := min(len(p)/4, len(v))
	for i := range n {
		bits := binary.LittleEndian.Uint32(p[4*i:])
		if v[i] = math.Float32frombits(bits); v[i] != v[i] && bits != canonicalNaN {
			return p, badState("a NaN other than %x", uint32(canonicalNaN))
		}
	}
	if l.rest[0] = v[n:]; n == len(v) {
		l.rest = l.rest[1:]
	}
	if len(l.rest) == 0 {
		l.need, l.next = sumLen, l.digest
	}
	return p[4*n:], nil
}

// digest compares what was loaded with the file's last bytes.
func (l *Loader) digest(part []byte) error {
	if got := l.r.Digest(); !bytes.Equal(got[:], part) {
		return badState("the digest of its vectors is %x, it says %x", got[:8], part[:8])
	}
	l.need = 0
	return nil
}

// Replica returns the replica of the whole file; [ErrState] if it did not come
// to its end.
func (l *Loader) Replica() (*Replica, History, error) {
	switch {
	case l.err != nil:
		return nil, History{}, l.err
	case l.need != 0:
		return nil, History{}, badState("it ends early")
	}
	return l.r, l.history, nil
}
