package follow

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// itemCheckpoint is the item of the store that holds the state, in a state file of package
// replica.
const itemCheckpoint = "checkpoint"

// A mark is a position in the log.
type mark struct {
	n    uint64
	hash wire.Hash
}

// checkpoints says what the store holds, and when the next checkpoint is due.
//
// Invariant: stored, if not 0, is the position of the checkpoint in the store.
type checkpoints struct {
	stored   mark
	last     uint64    // record of the last attempt to write a checkpoint
	at       time.Time // time of the last attempt, also if there was nothing to write
	attempts uint64    // how often a checkpoint was due
	before   uint64    // record of the state in itemBefore; 0: none
	ran      wire.Tip  // the run of that state: KeyTip of its plan
	spare    uint64    // record of a checkpoint to keep until the run has more records; 0: none
}

// usable says whether the checkpoint in the store is on a path.
func (c *checkpoints) usable(live path) bool {
	return c.stored.n > 1 && live.has(c.stored.n)
}

// Start starts the time until the next checkpoint.
func (f *Follower) Start() { f.checkpoints.at = time.Now() }

// place returns the replica's position in the log.
func (f *Follower) place() mark { return mark{f.replica.N(), f.replica.Hash()} }

// history is the part of a state file that is not the state itself.
func (f *Follower) history() replica.History {
	return replica.History{Rollbacks: f.course.rollbacks, Snapshot: f.unproven}
}

// Attempts returns how often a checkpoint was due.
func (f *Follower) Attempts() uint64 { return f.checkpoints.attempts }

// KeepIfDue writes a checkpoint if CheckpointEvery records or CheckpointInterval passed since
// the last attempt.
func (f *Follower) KeepIfDue() error { return f.keepIfDue(false) }

// keepIfDue does the work of KeepIfDue. Within a catch-up only CheckpointInterval counts.
func (f *Follower) keepIfDue(within bool) error {
	c, n := &f.checkpoints, f.replica.N()
	enough := !within && (n >= c.last+f.cfg.CheckpointEvery || n < c.last)
	if enough || time.Since(c.at) >= f.cfg.CheckpointInterval {
		return f.Keep()
	}
	return nil
}

// Keep writes a checkpoint, unless the store has it. An error is an error of Report.
func (f *Follower) Keep() error {
	c, s, here := &f.checkpoints, f.cfg.Files, f.place()
	c.at = time.Now()
	c.attempts++
	// Do not store a state that lacks vectors, or that is unproven at the run's end: the follower
	// still fetches those vectors, or replays the log.
	unproven := f.unproven > 0 && f.replica.Ended() != nil
	if s == nil || here.n == 0 || c.stored == here || unproven || !f.whole() ||
		here.n <= c.spare {
		return nil
	}
	c.last = here.n
	err := s.Save(itemCheckpoint, func(w io.Writer) error { return f.Save(w) })
	if err == nil {
		c.stored, c.spare = here, 0
	}
	if err := s.Check(itemCheckpoint, err); err != nil {
		return err
	}
	return f.dropBefore()
}

// Open loads the checkpoint that an earlier process wrote. Open sets a damaged checkpoint aside,
// because the log has all records. The error is an error of Report, [plan.ErrRunKey] for a
// checkpoint made with another key, or [replica.ErrForeign] for a checkpoint of another run or
// model.
func (f *Follower) Open() error {
	if err := f.openBefore(); err != nil {
		return err
	}
	r, h, err := f.loadCheckpoint()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, plan.ErrRunKey):
		return fmt.Errorf("checkpoint: %w", f.keyed(err)) // the checkpoint is good, for the right key
	case retry.Unfit(err):
		// the checkpoint is good, for a device with more memory or a later version
		return fmt.Errorf("checkpoint: %w", err)
	case errors.Is(err, replica.ErrForeign):
		return fmt.Errorf("checkpoint: %w: nothing was changed: give each run and model a store of "+
			"its own, or set what this one was made with", err)
	case errors.Is(err, replica.ErrState):
		return f.cfg.Files.Discard(itemCheckpoint, err)
	case err != nil:
		return f.cfg.Files.Check(itemCheckpoint, err)
	}
	f.replace(r)
	if err := f.checkPrivate(); err != nil {
		f.replace(f.blank())
		return fmt.Errorf("checkpoint: %w", err)
	}
	f.course, f.unproven = course{rollbacks: h.Rollbacks}, h.Snapshot
	f.checkpoints.stored, f.checkpoints.last = f.place(), r.N()
	f.digestIfDue(r.N())
	f.cfg.Logger.Info("going on from the checkpoint", "record", r.N())
	return nil
}

// loadCheckpoint returns the replica of the checkpoint in the store.
func (f *Follower) loadCheckpoint() (r *replica.Replica, h replica.History, err error) {
	err = f.cfg.Files.Load(itemCheckpoint, func(file *io.SectionReader) error {
		r, h, err = replica.Load(f.cfg.Replica, file, file.Size())
		return err
	})
	if err == nil && r.Plan().Initial == plan.Given && f.cfg.Replica.Initial == nil &&
		f.cfg.Replica.ReadInitial == nil {
		err = fmt.Errorf("%w: %w: this device has none: give those that the plan was made with",
			replica.ErrForeign, replica.ErrInitial)
	}
	return r, h, err
}
