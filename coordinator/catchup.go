package coordinator

import (
	"context"

	"github.com/zofl/zofl/wire"
)

// catchUps answers requests for records from the log.
//
// Beyond the queue it takes the memory of its cache, of one answer, and of the
// records that a request from the middle of a segment asks for.
type catchUps struct {
	*answerer
	find  func(n uint64) (s span, last uint64) // last < n: there is no record n yet
	cache *segmentCache
}

func newCatchUps(cfg *Config, find func(n uint64) (span, uint64)) *catchUps {
	s := &catchUps{find: find, cache: newSegmentCache(cfg.Log, cfg.CatchUpCache)}
	s.answerer = newAnswerer(cfg, "catch-up", s.reply)
	return s
}

// reply appends the answer to a request.
func (s *catchUps) reply(ctx context.Context, data, frame []byte) ([]byte, error) {
	request, err := wire.DecodeCatchUpRequest(data)
	if err != nil {
		return nil, errGarbled
	}
	reply, err := s.records(ctx, request.From, request.MaxBytes)
	if err != nil {
		return nil, err
	}
	return reply.Append(frame), nil
}

// records returns the records from an index on, up to the end of its segment, as
// far as they fit a reply of about most bytes; at least one, if there is one.
func (s *catchUps) records(ctx context.Context, from, most uint64) (wire.CatchUpReply, error) {
	at, last := s.find(from)
	reply := wire.CatchUpReply{From: from, Last: last}
	if from > last {
		return reply, nil
	}
	held, err := s.cache.get(ctx, at)
	if err != nil {
		return reply, err
	}
	room := int(min(most, wire.MaxFrame)) - catchUpHead
	if from == at.first && held.size <= room {
		reply.Records = held.records
		return reply, nil
	}
	n := at.first
	held.records.Each(func(record []byte) bool {
		if n++; n <= from {
			return true
		}
		room -= len(record) + binHead
		if room < 0 && reply.Records.Len() > 0 {
			return false
		}
		reply.Records.Add(record)
		return true
	})
	return reply, nil
}

// count adds to the counters what was done.
func (s *catchUps) count(c *Counters) {
	c.CatchUps = s.served.Load()
	c.CatchUpBytes = s.bytes.Load()
	c.CatchUpErrors = s.failed.Load()
	s.countDrops(c)
}
