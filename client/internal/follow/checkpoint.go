package follow

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// itemCheckpoint is the item of the store that the state is in, a state file of package
// replica.
const itemCheckpoint = "checkpoint"

// A mark is a place in the log.
type mark struct {
	n    uint64
	hash wire.Hash
}

// checkpoints are what is known of the checkpoint in the store.
//
// Invariant: kept, if not 0, is the record of the checkpoint in the store.
type checkpoints struct {
	kept     mark
	tried    uint64    // record of the last attempt to keep a checkpoint
	at       time.Time // of that attempt, or when there was nothing to keep
	attempts uint64
}

// usable says whether the checkpoint in the store is of a state on the way along a path.
func (c *checkpoints) usable(live path) bool { return c.kept.n > 1 && live.has(c.kept.n) }

// Start begins the time until the next checkpoint.
func (f *Follower) Start() { f.checkpoints.at = time.Now() }

// place returns the mark of the replica.
func (f *Follower) place() mark { return mark{f.replica.N(), f.replica.Hash()} }

// history is what goes with the state into a file.
func (f *Follower) history() replica.History {
	return replica.History{Rollbacks: f.course.rollbacks, Snapshot: f.unproven}
}

// Attempts is how often a checkpoint was due.
func (f *Follower) Attempts() uint64 { return f.checkpoints.attempts }

// KeepIfDue keeps a checkpoint CheckpointEvery records or CheckpointInterval after the last
// attempt.
func (f *Follower) KeepIfDue() error { return f.keepIfDue(false) }

// keepIfDue does it; within a catch-up only the time counts.
func (f *Follower) keepIfDue(within bool) error {
	c, n := &f.checkpoints, f.replica.N()
	often := !within && (n >= c.tried+f.cfg.CheckpointEvery || n < c.tried)
	if often || time.Since(c.at) >= f.cfg.CheckpointInterval {
		return f.Keep()
	}
	return nil
}

// Keep writes a checkpoint, unless the store has it. The error is the app's.
func (f *Follower) Keep() error {
	c, s, here := &f.checkpoints, f.cfg.Shelf, f.place()
	c.at = time.Now()
	c.attempts++
	// The end of an unproven state is still to be replayed, and objects to be fetched.
	if !s.Keeps() || here.n == 0 || c.kept == here || f.unproven > 0 && f.replica.Ended() != nil ||
		!f.whole() {
		return nil
	}
	c.tried = here.n
	err := s.Save(itemCheckpoint, func(w io.Writer) error { return f.Save(w) })
	if err == nil {
		c.kept = here
	}
	return s.Check(itemCheckpoint, err)
}

// Open goes on from the checkpoint that an earlier process kept. It sets aside one that
// cannot be used; the log has it all. The error is [wire.ErrRunKey] for a checkpoint of a
// run with another key, or the app's.
func (f *Follower) Open() error {
	r, h, err := f.loadCheckpoint()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, wire.ErrRunKey):
		return fmt.Errorf("checkpoint: %w", f.keyed(err)) // a good one, for the right key
	case errors.Is(err, replica.ErrState):
		return f.cfg.Shelf.Discard(itemCheckpoint, err)
	case err != nil:
		return f.cfg.Shelf.Check(itemCheckpoint, err)
	}
	f.replace(r)
	if err := f.checkPrivate(); err != nil {
		f.replace(f.blank())
		return fmt.Errorf("checkpoint: %w", err)
	}
	f.course, f.unproven = course{rollbacks: h.Rollbacks}, h.Snapshot
	f.checkpoints.kept, f.checkpoints.tried = f.place(), r.N()
	f.digestIfDue(r.N())
	f.cfg.Logger.Info("going on from the checkpoint", "record", r.N())
	return nil
}

// loadCheckpoint returns the replica of the checkpoint in the store.
func (f *Follower) loadCheckpoint() (r *replica.Replica, h replica.History, err error) {
	err = f.cfg.Shelf.Load(itemCheckpoint, func(file *io.SectionReader) error {
		r, h, err = replica.Load(f.cfg.Replica, file, file.Size())
		return err
	})
	if err == nil && r.Plan().Initial == wire.Given && f.cfg.Replica.Initial == nil {
		err = fmt.Errorf("%w: %w: Config.Initial is nil", replica.ErrState, replica.ErrInitial)
	}
	return r, h, err
}
