package catchup

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// Objects answers requests for pieces of the vectors that the log keeps. Objects uses the memory of
// its queue and of its cache.
//
// The goroutine of Serve owns cache.
type Objects struct {
	*answerer
	log     runlog.Objects
	find    func(digest [wire.ObjectLen]byte) (runlog.ObjectName, bool)
	timeout time.Duration // of a read

	cache []runlog.Object // the vector asked for last is at the end
	most  int             // bytes of cache, unless it has one vector only

	newest uint64       // the last record whose vector a device asked for
	kept   atomic.Int64 // how many vectors the log keeps
}

// NewObjects returns a service for the vectors of a log. The service keeps about cache bytes of
// vectors in memory. A read takes at most timeout. find returns the name of the vector with a
// digest, if the log keeps such a vector; any goroutine may call find.
func NewObjects(cfg Config, log runlog.Objects, cache int, timeout time.Duration,
	find func([wire.ObjectLen]byte) (runlog.ObjectName, bool)) *Objects {
	s := &Objects{log: log, find: find, timeout: timeout, most: cache}
	s.answerer = newAnswerer(&cfg, "vector", s.reply)
	return s
}

// reply appends the answer to a request. If the log has lost or damaged a vector, the answer says
// that the vector is gone. Devices then fetch a snapshot, or wait for the next record. They ask
// again after each announcement, in case an operator has restored the vector. If the run has ended,
// devices ask a few times more, and then leave.
func (s *Objects) reply(ctx context.Context, data, frame []byte) ([]byte, error) {
	request, err := wire.DecodeObjectRequest(data)
	if err != nil {
		return nil, errGarbled
	}
	reply := wire.ObjectReply{Offset: request.Offset}
	if name, ok := s.find(request.Digest); ok {
		object, err := s.get(ctx, name)
		switch {
		case errors.Is(err, runlog.ErrNoObject), errors.Is(err, runlog.ErrCorrupt):
			s.fail(err)
		case err != nil:
			return nil, err
		}
		s.note(name.N, len(object))
		reply.Size = uint64(len(object))
		rest := object[min(request.Offset, reply.Size):]
		reply.Data = rest[:min(uint64(len(rest)), s.room(request.MaxBytes), wire.MaxPiece)]
	}
	return reply.Append(frame), nil
}

// mostKept is how many vectors a log may keep before the coordinator says how many it keeps.
const mostKept = 16

// Keep says how many vectors the log keeps. Any goroutine may call Keep.
func (s *Objects) Keep(vectors int) { s.kept.Store(int64(vectors)) }

// note notes how much there is to send, as devices ask for the vector of record n.
func (s *Objects) note(n uint64, size int) {
	s.shares.has(cmp.Or(s.kept.Load(), mostKept) * int64(size))
	if n > s.newest {
		s.newest = n
		s.shares.add(int64(size))
	}
}

// get returns a vector that the log should have.
func (s *Objects) get(ctx context.Context, name runlog.ObjectName) ([]byte, error) {
	at := slices.IndexFunc(s.cache, func(v runlog.Object) bool { return v.Name == name })
	if at >= 0 {
		v := s.cache[at]
		s.cache = append(slices.Delete(s.cache, at, at+1), v)
		return v.Data, nil
	}
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	data, err := s.log.Object(limited, name)
	if errors.Is(err, runlog.ErrNoObject) {
		if _, still := s.find(name.Digest); !still {
			return nil, nil // it was just deleted
		}
	}
	if err != nil {
		return nil, err
	}
	s.cache = append(s.cache, runlog.Object{Name: name, Data: data})
	for size := s.size(); size > s.most && len(s.cache) > 1; size = s.size() {
		s.cache = slices.Delete(s.cache, 0, 1)
	}
	return data, nil
}

func (s *Objects) size() (sum int) {
	for _, v := range s.cache {
		sum += len(v.Data)
	}
	return sum
}

// Refused is the number of requests that the service dropped unread; 0 for a nil service.
func (s *Objects) Refused() uint64 {
	if s == nil {
		return 0
	}
	return s.Counts().Refused()
}
