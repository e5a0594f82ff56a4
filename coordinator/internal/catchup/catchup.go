package catchup

import (
	"context"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
)

// CatchUps answers requests for records. CatchUps uses the memory of its queue, of its cache, of
// one answer, and of the records for a request that starts within a segment.
//
// The goroutine of Serve owns cache.
type CatchUps struct {
	*answerer
	find  func(n uint64) (s Span, last uint64) // last < n: there is no record n yet
	cache *segmentCache
	start *Start                                // nil: the log begins with record 1
	vouch func(n uint64) (wire.Reference, bool) // see Config.Vouch
}

// A Start describes the beginning of a log that begins with a state.
type Start struct {
	First []byte // record 1, the plan
	wire.LogStart
}

// NewCatchUps returns a service for the records of a log. The service keeps about cache bytes of
// records in memory. find returns the segment of record n, and the last record; any goroutine may
// call find.
func NewCatchUps(cfg Config, log runlog.Log, cache int,
	find func(n uint64) (Span, uint64)) *CatchUps {
	s := &CatchUps{find: find, cache: newSegmentCache(log, cache), vouch: cfg.Vouch}
	s.answerer = newAnswerer(&cfg, "catch-up", s.reply)
	return s
}

// BeginWith says where the log begins, if not with record 1. The service then tells devices that
// ask for earlier records to take a snapshot. Call BeginWith before Serve.
func (s *CatchUps) BeginWith(start Start) { s.start = &start }

// reply appends the answer to a request.
func (s *CatchUps) reply(ctx context.Context, data, frame []byte) ([]byte, error) {
	request, err := wire.DecodeCatchUpRequest(data)
	if err != nil {
		return nil, errGarbled
	}
	asks, most := s.sign != nil && signed.Asks(data), s.room(request.MaxBytes)
	if asks {
		most -= min(most, uint64(signed.Len))
	}
	reply, err := s.Records(ctx, request.From, most)
	if err != nil {
		return nil, err
	}
	if asks && s.vouch != nil && reply.Records.Len() <= 1 {
		if r, ok := s.vouch(request.From); ok {
			reply.Rest = signed.Vouch(reply.Rest, r)
		}
	}
	return reply.Append(frame), nil
}

// Records returns the records from index from to the end of that record's segment, as many as fit a
// reply of at most most bytes. Records returns at least one record if the log has record from, also
// if that record alone makes the reply longer.
func (s *CatchUps) Records(ctx context.Context, from, most uint64) (wire.CatchUpReply, error) {
	below := s.start != nil && from <= s.start.N
	n := from
	if below {
		n = s.start.N + 1
	}
	at, last := s.find(n)
	reply := wire.CatchUpReply{From: from, Last: last}
	switch {
	case below:
		reply.Rest = s.start.Append(nil)
		if from == 1 {
			reply.Records.Add(s.start.First)
		}
		return reply, nil
	case from > last:
		return reply, nil
	}
	s.shares.has(at.all)
	held, err := s.cache.get(ctx, at)
	if err != nil {
		return reply, err
	}
	room := int(most) - CatchUpHead
	if from == at.First && held.size <= room {
		reply.Records = held.records
		return reply, nil
	}
	n = at.First
	held.records.Each(func(record []byte) bool {
		if n++; n <= from {
			return true
		}
		room -= len(record) + RecordHead
		if room < 0 && reply.Records.Len() > 0 {
			return false
		}
		reply.Records.Add(record)
		return true
	})
	return reply, nil
}
