package logtest

import (
	"bytes"
	"context"
	"errors"

	"github.com/zofl/zofl/coordinator/runlog"
)

// Read ends when f returns false.
func checkRead(s *scene) {
	log, epoch := s.led()
	s.append(log, epoch, 10)
	for _, most := range []int{1, 3} {
		calls := 0
		err := log.Read(s.ctx, 2, func(uint64, []byte) bool { calls++; return calls < most })
		s.ok(err, "Read that f ends")
		if calls != most {
			s.failf("Read called f %d times, %d after it said to stop", calls, calls-most)
		}
	}
}

// When its context ends, Read returns the cause.
func checkReadEnds(s *scene) {
	log, epoch := s.led()
	s.append(log, epoch, 10)
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	cause := errors.New("enough")
	calls := 0
	err := log.Read(ctx, 1, func(uint64, []byte) bool {
		if calls++; calls == 3 {
			cancel(cause)
		}
		return true
	})
	if calls == 10 && err == nil {
		s.failf("Read ignored its context")
	}
	if err != nil && !errors.Is(err, cause) {
		s.failf("Read whose context ended: %v, want the cause", err)
	}
}

// Other goroutines may call Read and Last while one appends records. Both show a beginning of the
// log.
func checkReadWhileAppending(s *scene) {
	log, epoch := s.led()
	records := s.append(log, epoch, 1)
	for range 60 {
		records = append(records, s.next(epoch))
	}
	failed := make(chan error, 1)
	go func() { failed <- readAlong(s.ctx, log, records) }()
	for i, record := range records[1:] {
		s.ok(log.Append(s.ctx, uint64(i)+2, record), "Append of record %d", i+2)
	}
	s.ok(<-failed, "Read during Append")
	s.holds(log, records)
}

// readAlong reads until the log has all records.
func readAlong(ctx context.Context, log runlog.Log, records [][]byte) error {
	for ctx.Err() == nil {
		last, n := log.Last(), uint64(0)
		var bad error
		err := log.Read(ctx, 1, func(got uint64, record []byte) bool {
			if n++; got != n || n > uint64(len(records)) || !bytes.Equal(record, records[n-1]) {
				bad = errors.New("a record is not what was appended")
			}
			return bad == nil
		})
		switch {
		case bad != nil || err != nil:
			return errors.Join(bad, err)
		case n < last:
			return errors.New("Read ended before the record that Last named")
		case n == uint64(len(records)):
			return nil
		}
	}
	return context.Cause(ctx)
}
