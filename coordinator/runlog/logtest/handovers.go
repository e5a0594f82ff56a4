package logtest

import (
	"bytes"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// hands hands over a state with a record that the log is to get next. If the log is no
// runlog.Handovers, hands ends the check.
func (s *scene) hands(log runlog.Log, record, state []byte) {
	h, ok := log.(runlog.Handovers)
	if !ok {
		s.failf("%T is no runlog.Handovers: set Config.NoHandovers, if it is not meant to be", log)
	}
	s.ok(h.HandOver(s.ctx, s.n, wire.HashRecord(record).Tip(), bytes.Clone(state)), "HandOver")
}

// handed checks the handover of the log's last record.
func (s *scene) handed(log runlog.Log, want []byte) {
	got, err := runlog.HandoverOf(s.ctx, log)
	s.ok(err, "HandedOver")
	if !bytes.Equal(got, want) {
		s.failf("HandedOver() = %x, want %x", got, want)
	}
}

// state returns a state for the n-th handover.
func state(n int) []byte {
	return bytes.Repeat([]byte{byte(n), 0, 0xff, '\n'}, 1+n*(runlog.MaxHandover/4-1)/4)
}

// A log has the handover of its last record, of any length, and of no other record. A handover
// whose record was not stored, or another in its place, does not count.
func checkHandovers(s *scene) {
	log, epoch := s.led()
	s.handed(log, nil)
	reopen := func() {
		s.close(log)
		log, epoch = s.led()
	}
	for n := range 5 {
		record, before := s.next(epoch), []byte(nil)
		if n > 0 {
			before = state(n - 1)
		}
		s.hands(log, record, state(n))
		s.handed(log, before)
		if n%2 == 1 { // as after a crash
			reopen()
			s.handed(log, before)
			s.hands(log, record, state(n))
		}
		s.ok(log.Append(s.ctx, s.n, record), "Append of record %d", s.n)
		s.handed(log, state(n))
		if n > 1 {
			reopen()
			s.handed(log, state(n))
		}
	}
	s.append(log, epoch, 1) // without a handover
	s.handed(log, nil)
	record := s.next(epoch)
	s.hands(log, s.instead(record), state(1))
	s.ok(log.Append(s.ctx, s.n, record), "Append of record %d", s.n)
	s.handed(log, nil)
	reopen()
	s.handed(log, nil)
}

// A coordinator that takes over gets the handover of the coordinator before it.
func checkHandoversTakeOver(s *scene) {
	log, epoch := s.led()
	for n := range 3 {
		record := s.next(epoch)
		s.hands(log, record, state(n))
		s.ok(log.Append(s.ctx, s.n, record), "Append of record %d", s.n)
		s.close(log)
		log, epoch = s.led()
		s.handed(log, state(n))
	}
}
