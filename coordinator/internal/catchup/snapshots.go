package catchup

import (
	"context"
	"errors"
	"io"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// Snapshots answers requests for the state at which a log begins, in pieces of the state's file.
// Snapshots does not decode the file.
type Snapshots struct {
	*answerer
	base  *runlog.Base
	state io.ReaderAt
	piece []byte
}

// NewSnapshots returns a service for the state at which a log begins.
func NewSnapshots(cfg Config, base *runlog.Base, state io.ReaderAt) *Snapshots {
	s := &Snapshots{base: base, state: state, piece: make([]byte, wire.SnapshotPiece)}
	s.answerer = newAnswerer(&cfg, "snapshot", s.reply)
	s.shares.has(base.Size)
	return s
}

// reply appends the answer to a request. reply leaves a request for another snapshot unanswered,
// because a passive replica may have that snapshot.
func (s *Snapshots) reply(_ context.Context, data, frame []byte) ([]byte, error) {
	request, err := wire.DecodeSnapshotRequest(data)
	switch {
	case err != nil:
		return nil, errGarbled
	case request.N != 0 && request.N != s.base.N:
		return nil, errNotOurs
	}
	size := uint64(s.base.Size)
	reply := wire.SnapshotReply{N: s.base.N, Tip: s.base.Hash.Tip(), Size: size,
		Offset: request.Offset}
	n := min(s.room(request.MaxBytes), wire.SnapshotPiece, size-min(request.Offset, size))
	if n > 0 {
		reply.Data = s.piece[:n]
		read, err := s.state.ReadAt(reply.Data, int64(request.Offset))
		if err != nil && (!errors.Is(err, io.EOF) || uint64(read) < n) {
			return nil, err
		}
	}
	return reply.Append(frame), nil
}

// Refused is the number of requests that the service dropped unread; 0 for a nil service.
func (s *Snapshots) Refused() uint64 {
	if s == nil {
		return 0
	}
	return s.Counts().Refused()
}
