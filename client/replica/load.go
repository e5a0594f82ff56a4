package replica

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/zofl/zofl/client/replica/internal/digest"
	"github.com/zofl/zofl/plan"
)

// Load reads a state file of size bytes and returns its replica. Load allocates little more memory
// than the replica needs, and only after it checked the head against cfg and size. The length of a
// pool's file without vectors does not show d, so for such a file Config.Dim is required. Without
// Config.Dim the error is [ErrDim].
//
// Errors match [ErrState], or are errors of r. The error also matches [ErrForeign] if the file
// belongs to another run or model than cfg's, and [ErrDim] or [ErrInitial] if the model differs.
// Load compares the initial parameters, if Config has them, with the plan's InitialDigest.
func Load(cfg Config, r io.Reader, size int64) (*Replica, History, error) {
	l := NewLoader(cfg, size)
	if _, err := io.Copy(l, r); err != nil {
		return nil, History{}, err
	}
	return l.Replica()
}

// A Loader builds a replica from a state file that arrives in pieces.
//
// Invariants:
//  1. Until the head was checked against cfg and size, the loader holds no more than the head, at
//     most 4 MiB. After the check it holds the replica.
//  2. After an error the loader accepts no more bytes.
type Loader struct {
	cfg  Config
	size int64
	err  error

	buffer []byte                  // bytes so far of the next part that next needs as a whole
	need   int                     // length of that part
	next   func(part []byte) error // called with the part once buffer holds all of it

	r       *Replica
	history History
	rest    [][]float32 // elements not yet read
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

// collect adds bytes to the buffered part, and calls next once the part is complete.
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

// prefix reads the length of the head.
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

// head checks the head and allocates the vectors.
func (l *Loader) head(part []byte) error {
	h, err := parseHead(part)
	if err != nil {
		return err
	}
	if err := l.fits(&h, len(part)-prefixLen-sumLen); err != nil {
		return err
	}
	if err := l.cfg.judge(h.Plan); err != nil {
		return fmt.Errorf("%w: %w", ErrState, err)
	}
	l.history = h.History
	runKey, err := h.Plan.Key(l.cfg.RunKey)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrState, err)
	}
	l.r = &Replica{
		cfg: l.cfg, n: h.N, hash: h.Hash, epoch: h.Epoch, rounds: h.Rounds,
		first: h.First, ended: h.Ended,
	}
	l.r.makeTeam()
	x := make([]float32, h.Plan.Dim)
	if len(h.Plan.InitialDigest) > 0 && l.cfg.gives() {
		if err := l.cfg.give(h.Plan, x); err != nil {
			return &foreignError{err}
		}
	}
	l.r.allocate(h.Plan, runKey, x)
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

// fits returns an error unless the file has the run, the model and the length that this loader
// expects.
func (l *Loader) fits(h *Head, headLen int) error {
	if err := l.cfg.owns(h.Plan); err != nil {
		return &foreignError{err}
	}
	switch p := h.Plan; {
	case l.cfg.Dim == 0 && h.Vectors == 0:
		return fmt.Errorf("%w: %w: a file without vectors has %d, which nothing vouches for: "+
			"give Config.Dim", ErrState, ErrDim, p.Dim)
	case p.Dim > maxDim:
		return fmt.Errorf("%w: %w: %d do not fit this machine's memory", ErrState, ErrDim, p.Dim)
	case h.size(headLen) != l.size:
		return badState("%d bytes, want %d", l.size, h.size(headLen))
	}
	return nil
}

// owns returns an error unless a state with plan p belongs to the run and model of c.
func (c *Config) owns(p *plan.Plan) error {
	switch {
	case p.Run != c.Run:
		return fmt.Errorf("the file is of run %q, this replica of %q", p.Run, c.Run)
	case c.Dim != 0 && p.Dim != c.Dim:
		return fmt.Errorf("%w: the file has %d, this model %d", ErrDim, p.Dim, c.Dim)
	case p.Pool > 0 && p.Initial == plan.Given && !c.gives():
		return fmt.Errorf("%w: a pool's coefficients are of the given parameters: give "+
			"those that the plan was made with", ErrInitial)
	}
	return nil
}

// A foreignError is an [ErrForeign] with its reason.
type foreignError struct{ reason error }

func (e *foreignError) Error() string { return fmt.Sprintf("%v: %v", ErrForeign, e.reason) }

// Unwrap makes the error match [ErrState] too: this replica can use nothing in the file.
func (e *foreignError) Unwrap() []error { return []error{ErrForeign, ErrState, e.reason} }

// element takes an element whose bytes came in two parts.
func (l *Loader) element(part []byte) error {
	_, err := l.elements(part)
	return err
}

// elements takes the next elements of the vectors and returns the rest of p.
func (l *Loader) elements(p []byte) ([]byte, error) {
	v := l.rest[0]
	n := min(len(p)/4, len(v))
	for i := range n {
		bits := binary.LittleEndian.Uint32(p[4*i:])
		if v[i] = math.Float32frombits(bits); v[i] != v[i] && bits != digest.NaN {
			return p, badState("a NaN other than %x", uint32(digest.NaN))
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

// digest compares the digest of the loaded state with the end of the file.
func (l *Loader) digest(part []byte) error {
	if got := l.r.Digest(); !bytes.Equal(got[:], part) {
		return badState("the digest of its vectors is %x, it says %x", got[:8], part[:8])
	}
	l.need = 0
	return nil
}

// Replica returns the replica once the caller has written the whole file. Before, the error matches
// [ErrState].
func (l *Loader) Replica() (*Replica, History, error) {
	switch {
	case l.err != nil:
		return nil, History{}, l.err
	case l.need != 0:
		return nil, History{}, badState("it ends early")
	}
	return l.r, l.history, nil
}
