package logtest

import (
	"bytes"
	"errors"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
)

// An empty log has no records, and Read and Members work on it.
func checkEmpty(s *scene) {
	log := s.log()
	s.holds(log, nil)
	s.members(log)
	s.begin(log)
	s.holds(log, nil)
	s.members(log)
}

// Read returns the appended bytes, whatever record it begins with.
func checkAppend(s *scene) {
	log, epoch := s.led()
	records := s.append(log, epoch, 40)
	s.holds(log, records)
	for _, from := range []uint64{0, 1, 2, 20, 40, 41, 100} {
		first := min(max(from, 1)-1, uint64(len(records)))
		s.reads(log, from, records[first:])
	}
}

// A log refuses every record except the next one.
func checkOrder(s *scene) {
	log, epoch := s.led()
	record := s.next(epoch)
	if err := log.Append(s.ctx, 2, record); !errors.Is(err, runlog.ErrOrder) {
		s.failf("Append of record 2 to an empty log: %v, want ErrOrder", err)
	}
	s.holds(log, nil)
	s.ok(log.Append(s.ctx, 1, record), "Append of record 1")
	records := append([][]byte{record}, s.append(log, epoch, 4)...)
	next := s.next(epoch)
	for _, n := range []uint64{0, 7, 100} {
		if err := log.Append(s.ctx, n, next); !errors.Is(err, runlog.ErrOrder) {
			s.failf("Append of record %d after 5: %v, want ErrOrder", n, err)
		}
	}
	s.holds(log, records)
	s.ok(log.Append(s.ctx, 6, next), "Append of record 6, after others were refused")
	s.holds(log, append(records, next))
}

// If a caller appends a different record with the index of a stored one, the stored record stays,
// and the error contains it.
func checkConflict(s *scene) {
	log, epoch := s.led()
	records := s.append(log, epoch, 5)
	for _, n := range []uint64{5, 3, 1} {
		stored := records[n-1]
		err := log.Append(s.ctx, n, s.instead(stored))
		var conflict *runlog.ConflictError
		switch {
		case !errors.As(err, &conflict):
			s.failf("Append of another record %d: %v, want a *runlog.ConflictError", n, err)
		case conflict.N != n || !bytes.Equal(conflict.Record, stored):
			s.failf("Append of another record %d: the error has record %d, %d bytes; want %d, %d "+
				"bytes",
				n, conflict.N, len(conflict.Record), n, len(stored))
		}
	}
	s.holds(log, records)
}

// Append of a record that the log already holds returns nil, because the caller may have missed the
// first answer.
func checkRepetition(s *scene) {
	log, epoch := s.led()
	records := s.append(log, epoch, 5)
	for i, record := range records {
		s.ok(log.Append(s.ctx, uint64(i)+1, record), "Append of record %d once more", i+1)
	}
	s.holds(log, records)
}

// Append must copy the record, because the caller may change its bytes later.
func checkOwnership(s *scene) {
	log, epoch := s.led()
	var records [][]byte
	for range 3 {
		record := s.next(epoch)
		records = append(records, bytes.Clone(record))
		s.ok(log.Append(s.ctx, s.n, record), "Append of record %d", s.n)
		clear(record)
	}
	s.holds(log, records)
	var conflict *runlog.ConflictError
	if err := log.Append(s.ctx, 2, s.instead(records[1])); !errors.As(err, &conflict) {
		s.failf("Append of another record 2: %v, want a *runlog.ConflictError", err)
	}
	clear(conflict.Record)
	s.holds(log, records)
}

// A log stores long records.
func checkLong(s *scene) {
	log, epoch := s.led()
	records := s.append(log, epoch, 1)
	for _, scalars := range []int{1, 4000, plan.MaxScalars - 1, 1} {
		record := s.next(epoch, make([]float32, scalars)...)
		s.ok(log.Append(s.ctx, s.n, record), "Append of %d bytes", len(record))
		records = append(records, record)
	}
	s.holds(log, records)
}
