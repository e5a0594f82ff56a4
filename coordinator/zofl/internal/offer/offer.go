// Package offer carries the file of a model from the coordinator's process to devices, in pieces.
//
// A request on zo.<run>.f.<id> is an offset, 8 bytes little-endian. A device whose broker takes
// short messages only adds how many bytes it can have, 8 bytes more. The answer is the size of the
// file, and the bytes of the file from that offset on, at most 60 KiB. Nothing is signed: a device
// knows the SHA-256 of the file from the person who made the plan, and keeps no other file.
package offer

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/internal/pause"
	"github.com/zofl/zofl/coordinator/zofl/internal/regular"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// numberLen is the length of an offset, and of a size.
const numberLen = 8

// ErrOther means that a file has another SHA-256 than it should.
var ErrOther = errors.New("another SHA-256")

// A File is one that is offered.
type File struct {
	SHA256 string

	file   *os.File
	size   int64
	shares *shares
}

// Open opens a file and hashes it. It must not change while it is offered.
func Open(name string) (*File, error) {
	file, err := regular.Open(name)
	if err != nil {
		return nil, err
	}
	f := &File{file: file}
	if f.SHA256, f.size, err = hash(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f.shares = newShares(f.size)
	return f, nil
}

func hash(r io.Reader) (sum string, size int64, err error) {
	h := sha256.New()
	size, err = io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// Serve answers devices of a run until stop is called, which closes the file. If several processes
// offer it, each request is answered by one of them.
func (f *File) Serve(nc *nats.Conn, run string) (stop func() error, err error) {
	answer := func(m *nats.Msg) { f.answer(m, nc.MaxPayload()) }
	sub, err := nc.QueueSubscribe(subjects.AllFiles(run), "zofl", answer)
	if err != nil {
		return nil, errors.Join(err, f.file.Close())
	}
	return func() error {
		err := sub.Unsubscribe()
		if errors.Is(err, nats.ErrConnectionClosed) {
			err = nil
		}
		return errors.Join(err, f.file.Close())
	}, nil
}

// answer sends a piece. A malformed request gets no answer. Neither does a request beyond the share
// of its device. This connection takes messages of payload bytes.
func (f *File) answer(m *nats.Msg, payload int64) {
	at, most, ok := parse(m.Data)
	if !ok || !subjects.AnswersTo(subjects.ID(m.Subject), m.Reply) || at > uint64(f.size) {
		return
	}
	n := min(uint64(f.size)-at, wire.Room(payload, min(most, wire.MaxPiece)))
	if !f.shares.take(subjects.ID(m.Subject), int(n)) {
		return
	}
	b := make([]byte, numberLen+n)
	binary.LittleEndian.PutUint64(b, uint64(f.size))
	if n, _ := f.file.ReadAt(b[numberLen:], int64(at)); n == len(b)-numberLen {
		_ = m.Respond(b) // who gets no answer asks again
	}
}

// parse reads a request.
func parse(b []byte) (at, most uint64, ok bool) {
	switch len(b) {
	case numberLen:
		return binary.LittleEndian.Uint64(b), wire.MaxPiece, true
	case 2 * numberLen:
		most = binary.LittleEndian.Uint64(b[numberLen:])
		return binary.LittleEndian.Uint64(b), most, most > 0
	}
	return 0, 0, false
}

// A Request is for a file.
type Request struct {
	Conn    *nats.Conn
	Run, ID string
	Name    string // of the file; if there is one, it is compared only
	SHA256  string // of the file, in lower-case hexadecimal
	Most    uint64 // bytes that it may have: the sender says how many, and nothing else bounds them
	// Waiting is told why no piece comes, once for each reason. The request goes on.
	Waiting func(reason string)

	shorter uint64 // by which pieces are shorter than this broker takes; 0 is 1
}

// ask returns the request for the bytes from an offset on. Only one that asks for short pieces says
// so: a program built before answers no other.
func (r *Request) ask(at uint64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, at)
	here := wire.Room(r.Conn.MaxPayload(), wire.MaxPiece)
	if most := max(here/max(r.shorter, 1), min(here, wire.LeastRoom)); most < wire.MaxPiece {
		b = binary.LittleEndian.AppendUint64(b, most)
	}
	return b
}

// answerWithin bounds a request for one piece, and between is the wait before another.
const (
	answerWithin = 5 * time.Second
	between      = time.Second
)

// Get sees to it that the file is there. The error matches [ErrOther] if it is another one. A
// fetched file appears complete and right, or not at all. What was fetched of it outlives the
// process: the next one goes on at the first missing piece.
func (r *Request) Get(ctx context.Context) error {
	if _, err := os.Stat(r.Name); errors.Is(err, os.ErrNotExist) {
		err = r.fetch(ctx)
		if !errors.Is(err, os.ErrExist) { // else somebody else has just fetched it
			return err
		}
	}
	file, err := regular.Open(r.Name)
	if err != nil {
		return err
	}
	defer file.Close()
	return r.compare(file)
}

func (r *Request) compare(file io.Reader) error {
	sum, _, err := hash(file)
	if err == nil && sum != r.SHA256 {
		err = fmt.Errorf("%s: %w, %s", r.Name, ErrOther, sum)
	}
	return err
}

var errSilent = errors.New("no piece of the model comes: does zofl serve run with --offer, and " +
	"may this device ask for it (zofl permissions --model)? It may fetch it four times, " +
	"and then once an hour")

func (r *Request) wait(reason string) {
	if r.Waiting != nil {
		r.Waiting(reason)
	}
}

// fill writes the pieces from a byte on into a file.
func (r *Request) fill(ctx context.Context, to *os.File, at uint64) error {
	told := map[string]bool{}
	first := uint64(0) // size of the file, as the first piece said it
	for {
		ask := at
		if first == 0 && told[errSilent.Error()] {
			ask = 0 // nobody answers for a byte that the file does not have
		}
		size, piece, err := r.piece(ctx, ask)
		switch {
		case err != nil:
		case first > 0 && size != first:
			err = fmt.Errorf("a piece is of a model of %d bytes, and others of one of %d: offer one "+
				"file only", size, first)
		case size > r.Most:
			err = fmt.Errorf("the model that is offered has %d bytes, and at most %d are taken: if it is "+
				"the right one, raise --fetch-limit", size, r.Most)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			if reason := err.Error(); !told[reason] {
				told[reason] = true
				r.wait(reason)
			}
			if err := pause.For(ctx, between); err != nil {
				return err
			}
			continue
		case at > size: // what is there is of another file
			if err := to.Truncate(0); err != nil {
				return err
			}
			at = 0
		}
		if first = size; ask != at {
			continue
		}
		if _, err := to.WriteAt(piece, int64(at)); err != nil {
			return err
		}
		if at += uint64(len(piece)); at >= size {
			return nil
		}
	}
}

// piece asks for the bytes of the file from an offset on.
func (r *Request) piece(ctx context.Context, at uint64) (size uint64, piece []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	m, err := r.Conn.RequestWithContext(ctx, subjects.File(r.Run, r.ID), r.ask(at))
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return 0, nil, errors.New("nobody offers the model: give zofl serve its file as --offer")
	case errors.Is(err, context.DeadlineExceeded):
		r.shorter = min(4*max(r.shorter, 1), wire.MaxPiece) // a broker on the way may take less
		return 0, nil, errSilent
	case err != nil:
		return 0, nil, err
	}
	if len(m.Data) < numberLen {
		return 0, nil, errors.New("a piece of the model has no size")
	}
	size, piece = binary.LittleEndian.Uint64(m.Data), m.Data[numberLen:]
	if at < size && len(piece) == 0 || uint64(len(piece)) > size-min(at, size) {
		return 0, nil, fmt.Errorf("a piece of %d bytes at %d of %d makes no sense", len(piece), at, size)
	}
	return size, piece, nil
}
