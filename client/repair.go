package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/wire"
)

// ErrDiverged: the state of this device differs from the reference that the
// run announced for it; the text says after which record, and what the device
// does about it. It comes in [Progress].Err.
var ErrDiverged = errors.New("state differs from the run's")

// A repair is what a device did about a reference that its state differs from.
// It rebuilds its state from the checkpoint, if that is of an earlier record,
// and where that does not help from record 1; each once for a reference. A state
// that was replayed from record 1 and still differs is what the log says, as
// far as this device can tell: it goes on with it, says so for each reference,
// and rebuilds no more until a reference agrees with it once. Else a wrong
// reference would have the whole run replay its log again and again.
type repair struct {
	stage repairStage
	of    wire.Reference // that was told of last
}

type repairStage int

const (
	agreed         repairStage = iota
	fromCheckpoint             // rebuilt, or being so
	fromFirst
	disagrees // rebuilt, in vain
)

// compare compares the state with the reference, and rebuilds it where they
// differ; a is the announcement that the replica has reached.
func (c *Client) compare(ctx context.Context, a *arrival) error {
	for d := &c.digests; d.own != nil; {
		if *d.own == d.reference.Digest {
			return c.confirmed()
		}
		if (c.repair.stage == disagrees || c.repair.stage == agreed) && c.repair.of == d.reference {
			return nil
		}
		rebuilds, err := c.rebuild()
		if err != nil || !rebuilds {
			return err
		}
		if err := c.catchUp(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// confirmed notes that the reference agrees with this device's state.
func (c *Client) confirmed() error {
	was, reference := c.repair.stage, &c.digests.reference
	c.repair.stage = agreed
	if c.unproven > 0 && (reference.N > c.unproven || c.replica.Ended() != nil && c.replica.N() == c.unproven) {
		c.cfg.Logger.Info("the snapshot was right", "record", c.unproven, "reference", reference.N)
		c.unproven = 0
		c.keeper.kept = mark{} // it says otherwise
	}
	if was == agreed {
		return nil
	}
	c.cfg.Logger.Info("the state is the run's again", "record", reference.N)
	return c.keep()
}

// rebuild begins the next stage of a repair; false if there is none.
func (c *Client) rebuild() (bool, error) {
	reference, live := c.digests.reference, c.course.path(c.replica.N())
	from, why := "record 1", c.repair.stage
	switch {
	case why == agreed && c.keeper.usable(live) && c.keeper.kept.n < reference.N && !c.fromSnapshot(c.keeper.kept.n):
		c.repair.stage, from = fromCheckpoint, fmt.Sprintf("the checkpoint after record %d", c.keeper.kept.n)
	case why < fromFirst:
		c.repair.stage = fromFirst
	default:
		c.repair.stage = disagrees
	}
	c.repair.of = reference
	own := *c.digests.own
	if c.repair.stage == disagrees {
		c.cfg.Logger.Error("the state differs from the run's, also replayed from record 1: going on with it",
			"record", reference.N, "digest", fmt.Sprintf("%x", own), "reference", fmt.Sprintf("%x", reference.Digest))
		err := fmt.Errorf("%w: after record %d digest %x, reference %x, also replayed from record 1: going on with it",
			ErrDiverged, reference.N, own, reference.Digest)
		if err := c.record(Progress{State: c.state, Err: err}); err != nil {
			return false, err
		}
		if why == disagrees {
			return false, nil // told before: checkpoints as ever
		}
		return false, c.keep()
	}
	c.cfg.Logger.Error("the state differs from the run's: rebuilding", "from", from,
		"record", reference.N, "digest", fmt.Sprintf("%x", own), "reference", fmt.Sprintf("%x", reference.Digest))
	if c.unproven > 0 {
		c.snapshots.distrust = true
	}
	err := fmt.Errorf("%w: after record %d digest %x, reference %x: rebuilding from %s",
		ErrDiverged, reference.N, own, reference.Digest, from)
	if err := c.record(Progress{State: CatchingUp, Err: err}); err != nil {
		return false, err
	}
	if c.repair.stage == fromFirst && c.keeper.kept.n > 0 {
		c.keeper.kept = mark{}
		if err := c.shelf.Discard(itemCheckpoint, ErrDiverged); err != nil {
			return false, err
		}
	}
	return true, c.startOver(c.repair.stage == fromCheckpoint)
}

// fromSnapshot says whether the state after record n came of the snapshot that
// nothing has proven yet.
func (c *Client) fromSnapshot(n uint64) bool { return c.unproven > 0 && n >= c.unproven }

// prove ends a run's last state only once it is proven: one that began with a
// snapshot, and that no reference agreed with, is replayed from the log.
func (c *Client) prove(ctx context.Context, a *arrival) error {
	if c.unproven == 0 || c.replica.Ended() == nil {
		return nil
	}
	c.snapshots.distrust = true
	err := fmt.Errorf("%w: the run ended and no reference proved the snapshot after record %d: replaying", errSnapshot, c.unproven)
	c.cfg.Logger.Warn("replaying", "err", err)
	if err := c.record(Progress{State: CatchingUp, Err: err}); err != nil {
		return err
	}
	was, unproven := c.replica, c.unproven
	if err := c.startOver(c.keeper.usable(c.course.path(a.N-1)) && !c.fromSnapshot(c.keeper.kept.n)); err != nil {
		return err
	}
	if err = c.catchUp(ctx, a); err != nil && c.replica.Ended() == nil && !errors.Is(err, errNotOurs) {
		// Likely right is better than the first parameters, should nobody answer any more.
		c.replace(was)
		c.unproven, c.course.passed = unproven, 0
		c.digests.forget()
	}
	return err
}
