package client

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/zofl/zofl/client/internal/shelf"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// Items of a [Store]. Checkpoint and snapshot are state files of package
// replica.
const (
	itemCheckpoint = "checkpoint" // the state, to go on from
	itemReply      = "reply"      // the last contribution, to send again
	itemUpload     = "upload"     // that of a dense run
	itemVariates   = "variates"   // contributions that records counted, of scaffold-2
)

// ErrStore: the [Store] could not be written or read, or held what could not be
// used. The client goes on in memory, and tries again at the next occasion; see
// [Progress].Err.
var ErrStore = shelf.ErrStore

// A mark is a place in the log.
type mark struct {
	n    uint64
	hash wire.Hash
}

// A keeper knows what the store holds.
//
// Invariant: kept, if not 0, is the record of the checkpoint in the store.
type keeper struct {
	kept   mark
	tried  uint64    // record of the last attempt to keep a checkpoint
	at     time.Time // of that attempt, or when there was nothing to keep
	opened bool      // what an earlier process left was looked at
}

// place returns the mark of the replica.
func (c *Client) place() mark { return mark{c.replica.N(), c.replica.Hash()} }

// history is what goes with the state into a file.
func (c *Client) history() replica.History {
	return replica.History{Rollbacks: c.course.rollbacks, Snapshot: c.unproven}
}

// replicaConfig is what every replica of this client is made with.
func (c *Client) replicaConfig() replica.Config {
	return replica.Config{Run: c.cfg.Run, Dim: uint64(c.dim), Initial: c.cfg.Initial, RunKey: c.cfg.RunKey, Workers: c.cfg.Workers}
}

// keepIfDue keeps a checkpoint CheckpointEvery records or CheckpointInterval
// after the last attempt; within a catch-up only the time counts.
func (c *Client) keepIfDue(within bool) error {
	k, n := &c.keeper, c.replica.N()
	often := !within && (n >= k.tried+c.cfg.CheckpointEvery || n < k.tried)
	if often || time.Since(k.at) >= c.cfg.CheckpointInterval {
		return c.keep()
	}
	return nil
}

// keep writes a checkpoint, unless the store has it, and what goes with it.
func (c *Client) keep() error {
	k, here := &c.keeper, c.place()
	k.at = time.Now()
	if err := c.keepMemory(); err != nil {
		return err
	}
	// The end of an unproven state is still to be replayed, and objects to be fetched.
	if !c.shelf.Keeps() || here.n == 0 || k.kept == here || c.unproven > 0 && c.replica.Ended() != nil ||
		len(c.replica.Missing()) > 0 {
		return nil
	}
	k.tried = here.n
	err := c.shelf.Save(itemCheckpoint, func(w io.Writer) error { return c.replica.Save(w, c.history()) })
	if err == nil {
		k.kept = here
	}
	return c.shelf.Check(itemCheckpoint, err)
}

// open takes what an earlier process left in the store: its checkpoint, its last
// reply and its control variates. What cannot be used is set aside; the log has it
// all. The error is [wire.ErrRunKey] for a checkpoint of a run with another key.
func (c *Client) open() error {
	k := &c.keeper
	if shared, ok := c.cfg.Store.(SharedStore); ok && shared.Changed() {
		c.forgetStore()
	}
	if !c.shelf.Keeps() || k.opened {
		return nil
	}
	for _, item := range []func() error{c.openCheckpoint, c.openReply, c.openUpload, c.openVariates, c.loadSnapshot} {
		if err := item(); err != nil {
			return err
		}
	}
	k.opened = true
	return nil
}

// forgetStore forgets what another client of this device may have replaced in the
// store. The state stays until there is another: it is one of the log's. So does a
// contribution that the store did not take: this client alone knows what it sent.
func (c *Client) forgetStore() {
	k := &c.keeper
	k.kept, k.tried, k.opened = mark{}, 0, false
	if !c.shelf.Failing(itemReply) {
		c.reply = sent{}
	}
	if !c.shelf.Failing(itemUpload) {
		c.upload = upload{}
	}
	c.declined, c.variates = sent{}, variates{}
	c.prober.Memory().Forget()
	c.digests, c.repair, c.snapshots = digests{}, repair{}, snapshots{}
	c.objects = objects{}
	c.server.withdraw()
}

// openCheckpoint goes on from the state that an earlier process kept.
func (c *Client) openCheckpoint() error {
	r, h, err := c.loadCheckpoint()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, wire.ErrRunKey):
		return fmt.Errorf("checkpoint: %w", c.keyed(err)) // a good one, for the right key
	case errors.Is(err, replica.ErrState):
		return c.shelf.Discard(itemCheckpoint, err)
	case err != nil:
		return c.shelf.Check(itemCheckpoint, err)
	}
	c.replace(r)
	if err := c.checkPrivate(); err != nil {
		c.replace(c.blank())
		return fmt.Errorf("checkpoint: %w", err)
	}
	c.course, c.unproven = course{rollbacks: h.Rollbacks}, h.Snapshot
	c.keeper.kept, c.keeper.tried = c.place(), r.N()
	c.digestIfDue(r.N())
	c.cfg.Logger.Info("going on from the checkpoint", "record", r.N())
	return nil
}

// loadCheckpoint returns the replica of the checkpoint in the store.
func (c *Client) loadCheckpoint() (r *replica.Replica, h replica.History, err error) {
	err = c.shelf.Load(itemCheckpoint, func(file *io.SectionReader) error {
		r, h, err = replica.Load(c.replicaConfig(), file, file.Size())
		return err
	})
	if err == nil && r.Plan().Initial == wire.Given && c.cfg.Initial == nil {
		err = fmt.Errorf("%w: %w: Config.Initial is nil", replica.ErrState, replica.ErrInitial)
	}
	return r, h, err
}

// usable says whether the checkpoint in the store is of a state on the way
// along a path.
func (k *keeper) usable(live path) bool { return k.kept.n > 1 && live.has(k.kept.n) }
