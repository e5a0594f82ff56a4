package logtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
)

// A scene is the state of one check: a place, its logs, and the records of a run.
type scene struct {
	ctx  context.Context
	run  string
	open Opener
	logs []runlog.Log // the open logs
	prev wire.Hash    // of the last record that next returned
	n    uint64       // its index
}

// A failure says why a log does not pass.
type failure struct{ error }

// try runs a check and returns why the log does not pass.
func (c check) try(ctx context.Context, run string, open Opener) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s := &scene{ctx: ctx, run: run, open: open, prev: wire.Genesis(run)}
	defer func() {
		if p := recover(); p != nil {
			f, ok := p.(failure)
			if !ok {
				panic(p)
			}
			err = f.error
		}
		for _, log := range s.logs {
			err = errors.Join(err, log.Close())
		}
	}()
	c.run(s)
	return nil
}

// failf ends the check.
func (s *scene) failf(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// ok ends the check unless err is nil.
func (s *scene) ok(err error, what string, args ...any) {
	if err != nil {
		s.failf("%s: %w", fmt.Sprintf(what, args...), err)
	}
}

// log opens the place's log.
func (s *scene) log() runlog.Log {
	log, err := s.open(s.ctx)
	s.ok(err, "open")
	s.logs = append(s.logs, log)
	return log
}

// led opens the log, and calls Begin.
func (s *scene) led() (log runlog.Log, epoch uint64) {
	log = s.log()
	return log, s.begin(log)
}

func (s *scene) begin(log runlog.Log) uint64 {
	epoch, err := log.Begin(s.ctx)
	s.ok(err, "Begin")
	return epoch
}

// close closes a log, so that another coordinator can lead.
func (s *scene) close(log runlog.Log) {
	s.logs = slices.DeleteFunc(s.logs, func(l runlog.Log) bool { return l == log })
	s.ok(log.Close(), "Close")
}

// next returns the next record of the run: its plan, and then rounds of one term.
func (s *scene) next(epoch uint64, scalars ...float32) []byte {
	s.n++
	r := wire.Record{N: s.n, Prev: s.prev, Epoch: epoch, Kind: wire.KindRound}
	if s.n == 1 {
		plan, err := preset.Unbound("decomfl", s.run, 4)
		s.ok(err, "plan")
		r.Kind, r.Plan = wire.KindPlan, plan
	} else {
		terms := []wire.Term{{Scalars: wire.AppendScalars(nil, append(scalars, float32(s.n))...)}}
		r.Round = &wire.Round{Round: s.n - 1, StepSize: 1, Perturbations: 1, Contributors: 1,
			Terms: terms}
	}
	b := r.Append(nil)
	s.prev = wire.HashRecord(b)
	return b
}

// instead returns a different record with the same index as last.
func (s *scene) instead(last []byte) []byte {
	r, err := wire.DecodeRecord(last)
	s.ok(err, "record")
	r.Epoch++
	return r.Append(nil)
}

// append appends the run's next records and returns them.
func (s *scene) append(log runlog.Log, epoch uint64, count int) (records [][]byte) {
	for range count {
		record := s.next(epoch)
		s.ok(log.Append(s.ctx, s.n, bytes.Clone(record)), "Append of record %d", s.n)
		records = append(records, record)
	}
	return records
}

// holds checks that a log holds the given records and no others.
func (s *scene) holds(log runlog.Log, want [][]byte) {
	if got := log.Last(); got != uint64(len(want)) {
		s.failf("Last() = %d, want %d", got, len(want))
	}
	s.reads(log, 1, want)
}

// reads checks the arguments with which Read calls f.
func (s *scene) reads(log runlog.Log, from uint64, want [][]byte) {
	first := max(from, 1)
	n := first
	var bad error // f must not panic: the log may hold a lock
	err := log.Read(s.ctx, from, func(got uint64, record []byte) bool {
		switch i := n - first; {
		case got != n:
			bad = fmt.Errorf("record %d where %d is next", got, n)
		case i >= uint64(len(want)):
			bad = fmt.Errorf("record %d, which was not appended", got)
		case !bytes.Equal(record, want[i]):
			bad = fmt.Errorf("record %d is not what was appended", got)
		}
		n++
		return bad == nil
	})
	s.ok(errors.Join(bad, err), "Read from %d", from)
	if got := n - first; got != uint64(len(want)) {
		s.failf("Read from %d: %d records, want %d", from, got, len(want))
	}
}

// members checks the roster.
func (s *scene) members(log runlog.Log, want ...string) {
	got, err := log.Members()
	s.ok(err, "Members")
	if !slices.Equal(got, want) {
		s.failf("Members() = %q, want %q", got, want)
	}
}

// retired checks who is retired.
func (s *scene) retired(log runlog.Log, want ...string) {
	got, err := log.Retired()
	s.ok(err, "Retired")
	if !slices.Equal(got, want) {
		s.failf("Retired() = %q, want %q", got, want)
	}
}
