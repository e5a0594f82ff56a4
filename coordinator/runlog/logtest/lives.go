package logtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zofl/zofl/coordinator/runlog"
)

// Members keep the order in which they were added.
func checkMembers(s *scene) {
	log, _ := s.led()
	for _, batch := range [][]string{{"b", "a"}, {"d"}, {"c", "e", "f"}} {
		s.ok(log.AddMembers(s.ctx, batch), "AddMembers")
	}
	s.members(log, "b", "a", "d", "c", "e", "f")
	var many []string
	for i := range runlog.MemberBatch + 10 {
		many = append(many, fmt.Sprintf("device-%d", i))
	}
	s.ok(log.AddMembers(s.ctx, many[:runlog.MemberBatch]), "AddMembers of many")
	s.ok(log.AddMembers(s.ctx, many[runlog.MemberBatch:]), "AddMembers of more")
	s.members(log, append([]string{"b", "a", "d", "c", "e", "f"}, many...)...)
}

// Retired members keep their slots, also after the log is opened again.
func checkRetire(s *scene) {
	log, epoch := s.led()
	s.append(log, epoch, 1)
	s.ok(log.AddMembers(s.ctx, []string{"a", "b", "c"}), "AddMembers")
	if err := log.Retire(s.ctx, "d"); !errors.Is(err, runlog.ErrNoMember) ||
		!strings.Contains(err.Error(), `"d"`) {
		s.failf("Retire of d, who is no member: %v, want ErrNoMember and the id", err)
	}
	for _, id := range []string{"b", "a", "b"} {
		s.ok(log.Retire(s.ctx, id), "Retire of %s", id)
	}
	s.retired(log, "b", "a")
	s.ok(log.AddMembers(s.ctx, []string{"d"}), "AddMembers after Retire")
	for range 2 {
		s.members(log, "a", "b", "c", "d")
		s.retired(log, "b", "a")
		s.close(log)
		log, _ = s.led()
		s.ok(log.Retire(s.ctx, "a"), "Retire of a in another life")
	}
	s.ok(log.Retire(s.ctx, "d"), "Retire of d, who is one by now")
	s.retired(log, "b", "a", "d")
}

// When the log is opened again, it holds everything that was stored, and accepts further records.
func checkReopen(s *scene) {
	var records [][]byte
	var ids []string
	for life := range 4 {
		log := s.log()
		epoch := s.begin(log)
		s.holds(log, records)
		s.members(log, ids...)
		records = append(records, s.append(log, epoch, 5)...)
		id := fmt.Sprintf("m%d", life)
		s.ok(log.AddMembers(s.ctx, []string{id}), "AddMembers")
		ids = append(ids, id)
		s.close(log)
	}
	log := s.log()
	s.holds(log, records)
	s.members(log, ids...)
}

// Each Begin returns a larger epoch than the Begin before, even if no record was appended in
// between.
func checkBegin(s *scene) {
	last := uint64(0)
	for range 3 {
		log := s.log()
		for range 2 {
			epoch := s.begin(log)
			if epoch <= last {
				s.failf("Begin() = %d after %d, want a larger one", epoch, last)
			}
			last = epoch
			if lost := log.Lost(); lost != nil && runlog.IsLost(lost) {
				s.failf("Lost is closed, and nobody else has begun")
			}
		}
		s.close(log)
	}
}

// Begin returns an epoch larger than the epochs of the records, whichever log wrote them.
func checkBeginAfterRecords(s *scene) {
	log, epoch := s.led()
	s.append(log, epoch, 1)
	s.append(log, epoch+50, 2)
	if again := s.begin(log); again <= epoch+50 {
		s.failf("Begin() = %d after a record of epoch %d", again, epoch+50)
	}
	s.close(log)
	if _, again := s.led(); again <= epoch+50 {
		s.failf("Begin() of the log that was opened again = %d after a record of epoch %d", again,
			epoch+50)
	}
}

// At most one coordinator leads. A second coordinator cannot open the log, or it waits in Begin
// until the first closes the log, or the channel of Lost tells the first that another leads.
func checkTakeOver(s *scene) {
	first, epoch := s.led()
	records := s.append(first, epoch, 3)
	lost := first.Lost()
	second, err := s.open(s.ctx)
	if errors.Is(err, runlog.ErrLocked) {
		s.close(first)
		second, err = s.open(s.ctx)
	}
	s.ok(err, "open while another one has the log, or after it")
	s.logs = append(s.logs, second)
	next := s.begins(first, second, lost)
	if next <= epoch {
		s.failf("Begin() = %d of who takes over from epoch %d", next, epoch)
	}
	s.holds(second, records)
	s.holds(second, append(records, s.append(second, next, 2)...))
}

// begins returns the epoch of second's Begin. If Begin waits for first, begins closes first.
func (s *scene) begins(first, second runlog.Log, lost <-chan struct{}) uint64 {
	type begun struct {
		epoch uint64
		err   error
	}
	done := make(chan begun, 1)
	closed := true
	for _, log := range s.logs {
		closed = closed && log != first
	}
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	go func() {
		epoch, err := second.Begin(ctx)
		done <- begun{epoch, err}
	}()
	if !closed {
		select {
		case b := <-done:
			s.ok(b.err, "Begin while another one leads")
			if lost == nil || !runlog.IsLost(lost) {
				s.failf("two coordinators lead: Lost of the first one is not closed")
			}
			return b.epoch
		case <-lost:
		case <-time.After(time.Second): // Begin waits for the first coordinator
			s.close(first)
		}
	}
	b := <-done
	s.ok(b.err, "Begin after the other one")
	return b.epoch
}
