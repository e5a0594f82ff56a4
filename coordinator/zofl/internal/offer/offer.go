// Package offer sends the file of a model in pieces from the coordinator's process to devices.
//
// A request on zo.<run>.f.<id> is an offset, 8 bytes little-endian. A device whose broker accepts
// only short messages appends, in 8 more bytes, how many bytes the answer may have. The answer is
// the size of the file, and the bytes of the file from the offset on, at most 60 KiB. Nobody signs
// these messages. A device knows the SHA-256 of the file from the person who made the plan, and
// keeps no file with another hash.
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

// ErrOther means that a file does not have the expected SHA-256.
var ErrOther = errors.New("another SHA-256")

func hash(r io.Reader) (sum string, size int64, err error) {
	h := sha256.New()
	size, err = io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// parse decodes a request.
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

// A Request says which file a device wants.
type Request struct {
	Conn    *nats.Conn
	Run, ID string
	Name    string // of the file; Get only compares the hash of an existing file
	SHA256  string // of the file, in lower-case hexadecimal; "": the caller checks the file
	Most    uint64 // bytes that the file may have; without it the sender alone would decide
	// Get calls Waiting with the reason why no piece comes, once for each reason. Get then goes on.
	Waiting func(reason string)

	shorter uint64 // requested pieces have 1/shorter of the bytes that this broker takes; 0 is 1
}

// ask returns the request for the bytes from an offset on. The request has a limit for the answer
// only if short pieces are needed, because coordinators of older versions do not answer requests
// with a limit.
func (r *Request) ask(at uint64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, at)
	most := wire.ShorterRoom(r.Conn.MaxPayload(), wire.MaxPiece, r.shorter)
	if most < wire.MaxPiece {
		b = binary.LittleEndian.AppendUint64(b, most)
	}
	return b
}

// answerWithin bounds the wait for one piece. between is the pause before the next request after a
// failure.
const (
	answerWithin = 5 * time.Second
	between      = time.Second
)

// Get fetches the file unless it exists. The error matches [ErrOther] if an existing file has
// another hash. A fetched file appears complete and with the right hash, or not at all. The pieces
// that were fetched survive the end of the process: the next process goes on at the first missing
// piece.
func (r *Request) Get(ctx context.Context) error {
	if _, err := os.Stat(r.Name); errors.Is(err, os.ErrNotExist) {
		err = r.fetch(ctx)
		if !errors.Is(err, os.ErrExist) { // else another process has just fetched the file
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

// Size asks once how many bytes the offered file has.
func (r *Request) Size(ctx context.Context) (uint64, error) {
	size, _, err := r.piece(ctx, 0)
	return size, err
}

func (r *Request) compare(file io.Reader) error {
	if r.SHA256 == "" {
		return nil
	}
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

// fill fetches the pieces from an offset on, and writes them to a file.
func (r *Request) fill(ctx context.Context, to *os.File, at uint64) error {
	told, silent := map[string]bool{}, false
	first := uint64(0) // size of the file, as the first piece said it
	for {
		ask := at
		if first == 0 && silent {
			ask = 0 // an offset beyond the file's end gets no answer
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
			silent = silent || errors.Is(err, errSilent)
			if reason := err.Error(); !told[reason] {
				told[reason] = true
				r.wait(reason)
			}
			if err := pause.For(ctx, between); err != nil {
				return err
			}
			continue
		case at > size: // the bytes so far belong to another file
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
		r.shorter = min(4*max(r.shorter, 1), wire.MaxPiece) // a broker in between may accept less
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
