package offer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/internal/regular"
	"github.com/zofl/zofl/internal/share"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// A File is an open file that devices may fetch. While the file differs from what Open read,
// devices get no piece of it.
//
// Invariants:
//  1. file has the SHA-256 SHA256, unless it changed after whole was noted.
type File struct {
	SHA256 string
	logger *slog.Logger

	mu     sync.Mutex // guards what follows
	closed bool
	file   *os.File
	size   int64
	whole  os.FileInfo // of file, when it had SHA256
	seen   os.FileInfo // of the file's name, when look compared it last; nil: it is not there
	told   string      // the last warning
	shares share.Shares
}

// Open opens a file and hashes it. Warnings about the file go to logger.
func Open(name string, logger *slog.Logger) (*File, error) {
	file, sum, info, err := read(name)
	if err != nil {
		return nil, err
	}
	f := &File{SHA256: sum, logger: logger, file: file, size: info.Size(), whole: info, seen: info}
	f.shares.Has(f.size)
	return f, nil
}

// read opens a file and hashes it. info is how the file was before that.
func read(name string) (file *os.File, sum string, info os.FileInfo, err error) {
	if file, err = regular.Open(name); err != nil {
		return nil, "", nil, err
	}
	size := int64(0)
	if info, err = file.Stat(); err == nil {
		sum, size, err = hash(file)
	}
	if err == nil && size != info.Size() {
		err = fmt.Errorf("%s: another program writes to it: offer it when it is complete", name)
	}
	if err != nil {
		return nil, "", nil, errors.Join(err, file.Close())
	}
	return file, sum, info, nil
}

// Serve answers the requests of a run's devices until the caller calls stop. stop also closes the
// file. If several processes serve the file, one of them answers each request.
func (f *File) Serve(nc *nats.Conn, run string) (stop func() error, err error) {
	answer := func(m *nats.Msg) { f.answer(m, nc.MaxPayload()) }
	sub, err := nc.QueueSubscribe(subjects.AllFiles(run), "zofl", answer)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		err := sub.Unsubscribe()
		if errors.Is(err, nats.ErrConnectionClosed) {
			err = nil
		}
		return errors.Join(err, f.Close())
	}, nil
}

// Close closes a file that is not served.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return f.file.Close()
}

// nobody is the answer to a device while the file cannot be offered. A NATS client takes the answer
// for that of a server that knows no responder, so the device says that nobody offers the model,
// and asks again.
var nobody = nats.Header{"Status": {"503"}}

// answer sends a piece of the file. answer ignores malformed requests, and requests of a device
// that has fetched more than its share. payload is the largest message, in bytes, that the broker
// of this connection accepts.
func (f *File) answer(m *nats.Msg, payload int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, most, ok := parse(m.Data)
	if f.closed || !ok || !subjects.AnswersTo(subjects.ID(m.Subject), m.Reply) || at > uint64(f.size) {
		return
	}
	n := min(uint64(f.size)-at, wire.Room(payload, min(most, wire.MaxPiece)))
	if !f.mayDraw(subjects.ID(m.Subject), int(n)) {
		return
	}
	b := make([]byte, numberLen+n)
	binary.LittleEndian.PutUint64(b, uint64(f.size))
	// a device without an answer asks again
	if f.piece(b[numberLen:], int64(at)) || f.restored() && f.piece(b[numberLen:], int64(at)) {
		_ = m.Respond(b)
		return
	}
	_ = m.RespondMsg(&nats.Msg{Header: nobody})
}

// mayDraw says whether a device has not drawn its share of the file yet, and counts the bytes of
// the piece that the device then gets. The log names a device that has.
func (f *File) mayDraw(id string, bytes int) bool {
	left, tell := f.shares.Left(id)
	if tell {
		f.logger.Warn("has drawn its share of the model, and gets pieces seldom", "device", id)
	}
	if left {
		f.shares.Draw(id, bytes)
	}
	return left
}

// piece reads bytes of the file, and returns true if they are of the file that has SHA256.
func (f *File) piece(b []byte, at int64) bool {
	f.look()
	n, err := f.file.ReadAt(b, at)
	if err != nil && err != io.EOF {
		f.tell(slog.LevelError, "cannot be read, so devices cannot fetch it: "+
			"offer a copy of it on another disk", err)
	}
	return n == len(b) && f.unchanged()
}

// unchanged says whether nothing wrote to the open file since it had SHA256.
func (f *File) unchanged() bool {
	info, err := f.file.Stat()
	return err == nil && alike(info, f.whole)
}

func alike(a, b os.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// look tells that the name of the file leads to no file, or to another one. Devices still get the
// open file.
func (f *File) look() {
	info, err := os.Stat(f.file.Name())
	if (err != nil || !os.SameFile(info, f.whole)) && f.unchanged() {
		f.tell(slog.LevelWarn, "was removed or replaced: devices still fetch what serve opened, "+
			"but put it back before the next start", err)
	}
}

// restored says whether the file's name leads to a file with SHA256 after the open file changed.
// restored reads a file once for each change.
func (f *File) restored() bool {
	name := f.file.Name()
	info, err := os.Stat(name)
	if err == nil && f.seen != nil && os.SameFile(info, f.seen) && alike(info, f.seen) {
		return false
	}
	f.seen = info
	if err == nil {
		var file *os.File
		var sum string
		if file, sum, info, err = read(name); err == nil && sum == f.SHA256 {
			f.file.Close()
			f.file, f.whole, f.seen, f.told = file, info, info, ""
			f.logger.Info("offering the model again", "file", name)
			return true
		}
		if err == nil {
			file.Close()
		}
	}
	f.tell(slog.LevelError, "has changed, so devices cannot fetch it: put back the one with the "+
		"SHA-256 that serve said first", err)
	return false
}

// tell logs a warning about the file, unless it was the last one.
func (f *File) tell(level slog.Level, what string, err error) {
	if f.told == what {
		return
	}
	f.told = what
	args := []any{"file", f.file.Name(), "sha256", f.SHA256}
	if err != nil {
		args = append(args, "err", err)
	}
	f.logger.Log(context.Background(), level, "the model that is offered "+what, args...)
}
