package follow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// errNoRecords says that the coordinator's log ends before the record that the coordinator
// announced.
var errNoRecords = errors.New("catch-up brought no record")

// A catch-up repeats a request up to fetchTries times if there is no answer, and up to goneTries
// times if the answer says that a vector is gone. goneTries requests take about a minute, because
// an old coordinator may answer for some seconds after another one began to lead.
const (
	fetchTries = 4
	goneTries  = 8
)

// rollbackPasses bounds how often a catch-up reads the log again because of unknown rollbacks. One
// more pass over the log is enough, unless the log changes meanwhile.
const rollbackPasses = 3

// catchUp brings the replica to the head, by records or by a snapshot, whichever is cheaper. An
// unknown rollback costs at most two more passes over the log, however many other rollbacks follow
// it: one pass to find the others, and a replay. catchUp holds one answer at a time.
func (f *Follower) catchUp(ctx context.Context, h *Head) error {
	before, passes, began := f.pace.records, 0, time.Now()
	defer func() { f.replays.done(began, time.Now()) }()
	for {
		live, from := path{{1, h.Last}}, f.replica.N()+1
		if !f.course.straight() {
			var err error
			live = f.course.path(h.Last)
			if from, err = f.resume(live); err != nil {
				return err
			}
		}
		err := f.read(ctx, from, h, func(n uint64, record []byte) error {
			return f.advance(n, record, live, h.Last)
		})
		switch {
		case errors.Is(err, errBehind):
			if err := f.takeSnapshot(ctx, h.Last, live); err != nil {
				return err
			}
			continue
		case errors.Is(err, replica.ErrFork):
			f.course.cut(f.replica.N())
		}
		if err != nil || !f.course.scanning {
			if err == nil {
				f.snapshots.download = nil // a download takes as much memory as a model
			}
			if err == nil && f.cfg.Files != nil && f.pace.records > before {
				err = f.KeepIfDue()
			}
			return err
		}
		f.course.scanning = false
		if passes++; passes > rollbackPasses {
			// The announcement and the log contradict each other: give up this time.
			f.course.cut(f.replica.N())
			return fmt.Errorf("%w: their rollbacks differ", errForged)
		}
	}
}

// resume returns the next record to read along a path. A replica that is not on the path starts
// over from its checkpoint, or from record 1. If the replica started over too often, resume returns
// [errRollbacks].
func (f *Follower) resume(live path) (uint64, error) {
	if !f.course.scanning && !live.has(f.replica.N()) {
		if rest := f.Rest(); rest > 0 {
			return 0, fmt.Errorf("%w: replaying the log in %v", errRollbacks,
				rest.Round(time.Millisecond))
		}
		f.replays.owed = true
		if err := f.startOver(f.checkpoints.usable(live)); err != nil {
			return 0, err
		}
	}
	n := f.replica.N()
	if !f.course.scanning && f.course.passed >= live.from(n+1) {
		f.course.passed = 0 // the device skipped records that the path needs
	}
	return max(n, f.course.passed) + 1, nil
}

// startOver returns to the state of the checkpoint, or to that after record 1.
func (f *Follower) startOver(checkpoint bool) error {
	f.digests.forget()
	fault, err := f.goBack(checkpoint)
	switch {
	case fault == nil:
	case errors.Is(fault, replica.ErrState):
		f.checkpoints.stored = mark{}
		fault = f.cfg.Files.Discard(itemCheckpoint, fault)
	default:
		fault = f.cfg.Files.Check(itemCheckpoint, fault)
	}
	if err == nil {
		f.digestIfDue(f.replica.N())
		err = fault
	}
	return err
}

// goBack replaces the replica with the replica of the checkpoint, or of record 1. fault says what
// was wrong with the checkpoint. goBack frees the old state before it allocates the new one.
func (f *Follower) goBack(checkpoint bool) (fault, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.course.passed = 0
	first := f.replica.PlanRecord()
	f.replica = f.blank()
	if checkpoint {
		r, h, err := f.loadCheckpoint()
		same := err == nil && mark{r.N(), r.Hash()} == f.checkpoints.stored &&
			bytes.Equal(r.PlanRecord(), first)
		if err == nil && !same {
			err = fmt.Errorf("%w: not the checkpoint that this client saved", replica.ErrState)
		}
		if err == nil {
			f.replica, f.unproven = r, h.Snapshot
			return nil, nil
		}
		fault = err
	}
	f.unproven = 0
	return fault, f.replica.Apply(first)
}

// read calls look with the records from an index to the head. read fetches the records that the
// head does not contain. read applies the batch before it fetches again, and before it returns.
func (f *Follower) read(
	ctx context.Context, from uint64, h *Head, look func(n uint64, record []byte) error,
) error {
	for from <= h.Last {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		records, n := h.Records, h.first()
		if from < n {
			if f.mayTake(h.Last) {
				return errBehind
			}
			if err := f.keepIfDue(true); err != nil {
				return err
			}
			var err error
			if records, err = f.fetchAgain(ctx, from, h.Last); err != nil {
				return err
			}
			n = from
		}
		if records.Len() == 0 {
			if from <= f.start.N {
				return f.below(from)
			}
			return fmt.Errorf("%w from %d on", errNoRecords, from)
		}
		var err error
		records.Each(func(record []byte) bool {
			if n >= from && n <= h.Last {
				err = look(n, record)
				from++
			}
			n++
			return err == nil && n <= h.Last && ctx.Err() == nil
		})
		// Apply the records before the fault: they are good.
		if fault := f.applyBatch(h.Last); fault != nil {
			return fault
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fetchAgain fetches the records from an index on. fetchAgain retries, so that the device need not
// wait for the next announcement after a lost answer.
func (f *Follower) fetchAgain(
	ctx context.Context, from, last uint64,
) (records wire.Records, err error) {
	f.Heard(last)
	err = f.again(ctx, Progress{}, func() error {
		reply, err := f.fetch(ctx, from, f.cfg.Source.Room(wire.MaxFrame))
		records = reply.Records
		return err
	})
	return records, err
}

// again calls ask until ask succeeds, at most fetchTries or goneTries times, and reports p before
// each call.
func (f *Follower) again(ctx context.Context, p Progress, ask func() error) error {
	pause := f.cfg.Pauses.First()
	for try := 1; ; try++ {
		if err := f.report(p); err != nil {
			return err
		}
		err := ask()
		tries := fetchTries
		if errors.Is(err, errGone) {
			tries = goneTries
		}
		if err == nil || ctx.Err() != nil || retry.Final(err) || try >= tries {
			return err
		}
		f.cfg.Logger.Info("catch-up failed", "err", err, "retry", pause)
		p.Err = err
		if err := f.report(p); err != nil {
			return err
		}
		p.Err = nil
		if err := retry.Sleep(ctx, f.cfg.Pauses.Jitter(pause)); err != nil {
			return err
		}
		pause = f.cfg.Pauses.Next(pause)
	}
}

// fetch requests the records from an index on: about most bytes, but at least one record.
func (f *Follower) fetch(ctx context.Context, from, most uint64) (wire.CatchUpReply, error) {
	began := time.Now()
	frame := (&wire.CatchUpRequest{From: from, MaxBytes: most}).Append(nil)
	b, err := f.cfg.Source.Records(ctx, frame)
	if err != nil {
		return wire.CatchUpReply{}, fmt.Errorf("catch-up from record %d: %w", from, err)
	}
	reply, err := wire.DecodeCatchUpReply(b)
	if err == nil && reply.From != from {
		err = fmt.Errorf("catch-up from record %d: got records from %d", from, reply.From)
	}
	if err == nil {
		f.noteStart(from, &reply)
		f.pace.fetched(time.Since(began), len(b))
		f.pace.records += float64(reply.Records.Len())
		f.pace.size += float64(len(b))
	}
	return reply, err
}

// Record fetches record n from the log; nil: the log has none.
func (f *Follower) Record(ctx context.Context, n uint64) ([]byte, error) {
	reply, err := f.fetch(ctx, n, 1)
	if err != nil {
		return nil, err
	}
	return first(reply.Records), nil
}

// first returns the first of records; nil: there is none.
func first(records wire.Records) (record []byte) {
	records.Each(func(b []byte) bool { record = b; return false })
	return record
}
