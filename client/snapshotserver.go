package client

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/internal/files"
	"github.com/zofl/zofl/internal/share"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// itemSnapshot is the item with the snapshot that a passive replica serves.
const itemSnapshot = "snapshot"

// snapshotInUse is how long after sending a piece the server expects a request for the next piece.
const snapshotInUse = 30 * time.Second

// A snapshotServer stores the snapshot of a passive replica and sends it to devices in pieces.
//
// Run's goroutine owns a snapshotServer. The bus calls answer on a goroutine of its own.
//
// Invariant: either offered describes the file in the store's item "snapshot", or offered.n is 0.
type snapshotServer struct {
	files *files.Keeper
	bus   bus.Bus
	log   *slog.Logger

	// For Run's goroutine only.
	skipped bool         // the server did not write the last snapshot that was due
	stored  snapshotFile // what the store holds, whether offered or withdrawn

	// For answer only.
	piece []byte

	mu      sync.Mutex // guards the fields below; may be locked inside files.Use, never around it
	shares  share.Shares
	offered snapshotFile
	used    time.Time // when the server last sent a piece of offered
	open    bool      // Run is serving
	refused uint64    // malformed requests, and those of devices that had drawn their share
}

// A snapshotFile is a snapshot in the store.
type snapshotFile struct {
	n    uint64
	tip  wire.Tip
	size int64
}

func (s *snapshotServer) offer() snapshotFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.offered
}

func (s *snapshotServer) set(f snapshotFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.n != s.offered.n && f.n > 0 {
		s.shares.Has(f.size)
		s.shares.Add(f.size)
	}
	s.offered, s.used = f, time.Time{}
}

func (s *snapshotServer) withdraw() { s.set(snapshotFile{}) }

// busy says whether a device is downloading the snapshot.
func (s *snapshotServer) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.used.IsZero() && time.Since(s.used) < snapshotInUse
}

// refusals returns how many requests the server refused.
func (s *snapshotServer) refusals() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

func (s *snapshotServer) setOpen(open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = open
}

// close ends serving. After close returns, no request uses the store.
func (s *snapshotServer) close() {
	s.files.Use(func(files.Store) error {
		s.setOpen(false)
		return nil
	})
}

// load offers the snapshot that an earlier process wrote. read returns the index of the snapshot's
// record. load sets aside a file if read returns one of the errors bad.
func (s *snapshotServer) load(
	read func(io.Reader, int64) (uint64, wire.Tip, error), bad ...error,
) error {
	var found snapshotFile
	err := s.files.Load(itemSnapshot, func(r *io.SectionReader) error {
		n, tip, err := read(r, r.Size())
		found = snapshotFile{n, tip, r.Size()}
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case isAny(err, bad):
		return s.files.Discard(itemSnapshot, err)
	case err != nil:
		return s.files.Check(itemSnapshot, err)
	}
	s.stored = found
	s.set(found)
	return nil
}

func isAny(err error, targets []error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// write replaces the snapshot with the state after record n. Requests wait until write returns. A
// request names the record of its snapshot, so that a device never mixes pieces of two snapshots.
func (s *snapshotServer) write(n uint64, tip wire.Tip, save func(io.Writer) error) error {
	s.stored = snapshotFile{}
	counted := &counter{}
	err := s.files.Use(func(store files.Store) error {
		err := store.Save(itemSnapshot, func(w io.Writer) error {
			counted.w, counted.n = w, 0
			return save(counted)
		})
		if err == nil {
			s.stored = snapshotFile{n, tip, counted.n}
			s.set(s.stored)
		}
		return err
	})
	if err == nil {
		s.log.Info("snapshot", "record", n, "bytes", counted.n)
	}
	return s.files.Check(itemSnapshot, err)
}

// A counter counts the bytes written through it.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// mayDraw says whether a device has not drawn its share of snapshots yet. The log names a device
// that has.
func (s *snapshotServer) mayDraw(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	left, tell := s.shares.Left(id)
	if tell {
		s.log.Warn("has drawn its share of snapshots, and gets answers seldom", "device", id)
	}
	return left
}

// refuse counts a request that the server does not answer.
func (s *snapshotServer) refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused++
}

// answer answers a request for a piece of the snapshot, on the bus's goroutine. answer holds one
// piece at a time.
func (s *snapshotServer) answer(m bus.Message) {
	request, err := wire.DecodeSnapshotRequest(m.Data)
	id := subjects.ID(m.Subject)
	if err != nil || !subjects.AnswersTo(id, m.Reply) || !s.mayDraw(id) {
		s.refuse()
		return
	}
	var reply wire.SnapshotReply
	err = s.files.Use(func(store files.Store) (err error) {
		reply, err = s.pieceOf(store, &request)
		return err
	})
	if err != nil {
		s.log.Error("snapshot not read", "err", err)
		reply = wire.SnapshotReply{}
	}
	frame := reply.Append(nil)
	s.mu.Lock()
	s.shares.Draw(id, len(frame))
	s.mu.Unlock()
	if err := s.bus.Publish(m.Reply, frame); err != nil {
		s.log.Warn("snapshot not sent", "err", err)
	}
}

// pieceOf reads the piece that a request asks for.
func (s *snapshotServer) pieceOf(
	store files.Store, request *wire.SnapshotRequest,
) (wire.SnapshotReply, error) {
	s.mu.Lock()
	f, open := s.offered, s.open
	s.mu.Unlock()
	if !open || f.n == 0 || request.N != 0 && request.N != f.n {
		return wire.SnapshotReply{}, nil
	}
	reply := wire.SnapshotReply{N: f.n, Tip: f.tip, Size: uint64(f.size), Offset: request.Offset}
	left := uint64(f.size) - min(request.Offset, uint64(f.size))
	asked := wire.Room(bus.MaxPayload(s.bus), request.MaxBytes)
	n := min(asked, wire.SnapshotPiece, left)
	if n == 0 {
		return reply, nil
	}
	if s.piece == nil {
		s.piece = make([]byte, wire.SnapshotPiece)
	}
	reply.Data = s.piece[:n]
	err := store.Load(itemSnapshot, func(r *io.SectionReader) error {
		_, err := r.ReadAt(reply.Data, int64(request.Offset))
		if err == io.EOF && uint64(r.Size()) == request.Offset+n {
			err = nil // the last piece
		}
		return err
	})
	if err != nil {
		return wire.SnapshotReply{}, err
	}
	s.mu.Lock()
	s.used = time.Now()
	s.mu.Unlock()
	return reply, nil
}
