package client

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/internal/seal"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// serving is what a passive replica serves its snapshot with.
//
// Invariant: the item "snapshot" of the store is the file that offered
// describes, or offered.n is 0.
type serving struct {
	mu      sync.Mutex // guards what follows, against the bus's goroutine
	offered snapshotFile
	used    time.Time // when a piece of it was sent last
	open    bool      // Run runs

	skipped bool         // Run's: the last one due was not written
	stored  snapshotFile // Run's: what the store has, offered or withdrawn
	piece   []byte       // the handler's
}

// A snapshotFile is a snapshot in the store.
type snapshotFile struct {
	n    uint64
	tip  wire.Tip
	size int64
}

func (s *serving) offer() snapshotFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.offered
}

func (s *serving) set(f snapshotFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offered, s.used = f, time.Time{}
}

func (s *serving) withdraw() { s.set(snapshotFile{}) }

func (s *serving) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.used.IsZero() && time.Since(s.used) < snapshotInUse
}

func (s *serving) setOpen(open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = open
}

// closeServing ends it; no request uses the store when it returns.
func (c *Client) closeServing() {
	c.keeper.mu.Lock()
	defer c.keeper.mu.Unlock()
	c.serving.setOpen(false)
}

// openSnapshot takes the snapshot that an earlier process wrote.
func (c *Client) openSnapshot() error {
	if c.cfg.Passive == nil || c.cfg.Passive.SnapshotEvery == 0 {
		return nil
	}
	var found snapshotFile
	err := c.keeper.load(itemSnapshot, func(r *io.SectionReader) error {
		head, err := replica.ReadHead(c.content(r))
		if err == nil && head.Plan.Run != c.cfg.Run {
			err = replica.ErrState
		}
		found = snapshotFile{head.N, head.Hash.Tip(), r.Size()}
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, replica.ErrState), errors.Is(err, seal.ErrFile):
		return c.discard(itemSnapshot, err)
	case err != nil:
		return c.stored(itemSnapshot, err)
	}
	c.serving.stored = found
	c.serving.set(found)
	return nil
}

// writeSnapshot puts the state in the place of the snapshot that is served.
func (c *Client) writeSnapshot() error {
	size, err := c.replaceSnapshot()
	if err == nil {
		c.cfg.Logger.Info("snapshot", "record", c.replica.N(), "bytes", size)
	}
	return c.stored(itemSnapshot, err)
}

// replaceSnapshot does it. Requests wait while it is written; before and after they get
// the one or the other, by its number.
func (c *Client) replaceSnapshot() (size int64, err error) {
	k, s := &c.keeper, &c.serving
	s.stored = snapshotFile{}
	k.mu.Lock()
	defer k.mu.Unlock()
	err = k.store.Save(itemSnapshot, func(w io.Writer) error {
		counted := &counter{w: w}
		err := c.saveSnapshot(counted)
		size = counted.n
		return err
	})
	if err == nil {
		s.stored = snapshotFile{c.replica.N(), c.replica.Hash().Tip(), size}
		s.set(s.stored)
	}
	return size, err
}

// A counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// serveSnapshot answers a request for a piece of the snapshot, on the bus's
// goroutine. It holds one piece at a time.
func (c *Client) serveSnapshot(m bus.Message) {
	request, err := wire.DecodeSnapshotRequest(m.Data)
	if err != nil || !answerable(m.Reply) {
		c.inbox.refuse()
		return
	}
	reply, err := c.pieceOf(&request)
	if err != nil {
		c.cfg.Logger.Error("snapshot not read", "err", err)
		reply = wire.SnapshotReply{}
	}
	if err := c.cfg.Bus.Publish(m.Reply, reply.Append(nil)); err != nil {
		c.cfg.Logger.Warn("snapshot not sent", "err", err)
	}
}

// pieceOf reads what a request asks for.
func (c *Client) pieceOf(request *wire.SnapshotRequest) (wire.SnapshotReply, error) {
	k, s := &c.keeper, &c.serving
	k.mu.Lock() // the store's, first: see writeSnapshot
	defer k.mu.Unlock()
	s.mu.Lock()
	f, open := s.offered, s.open
	s.mu.Unlock()
	if !open || f.n == 0 || request.N != 0 && request.N != f.n {
		return wire.SnapshotReply{}, nil
	}
	reply := wire.SnapshotReply{N: f.n, Tip: f.tip, Size: uint64(f.size), Offset: request.Offset}
	left := uint64(f.size) - min(request.Offset, uint64(f.size))
	if n := min(request.MaxBytes, snapshotPiece, left); n > 0 {
		if s.piece == nil {
			s.piece = make([]byte, snapshotPiece)
		}
		reply.Data = s.piece[:n]
		err := k.store.Load(itemSnapshot, func(r *io.SectionReader) error {
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
	}
	return reply, nil
}

// answerable says whether an answer may be published to a subject that somebody
// else chose: neither the run's own subjects nor the server's.
func answerable(subject string) bool {
	return subject != "" && !strings.HasPrefix(subject, "zo.") && !strings.HasPrefix(subject, "$")
}
