package follow

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
func (f *Follower) compare(ctx context.Context, h *Head) error {
	for d := &f.digests; d.own != nil; {
		if *d.own == d.reference.Digest {
			return f.confirmed()
		}
		if (f.repair.stage == disagrees || f.repair.stage == agreed) && f.repair.of == d.reference {
			return nil
		}
		rebuilds, err := f.rebuild()
		if err != nil || !rebuilds {
			return err
		}
		if err := f.catchUp(ctx, h); err != nil {
			return err
		}
	}
	return nil
}

// confirmed notes that the reference agrees with this device's state.
func (f *Follower) confirmed() error {
	was, reference := f.repair.stage, &f.digests.reference
	f.repair.stage = agreed
	if f.unproven > 0 && (reference.N > f.unproven || f.replica.Ended() != nil && f.replica.N() == f.unproven) {
		f.cfg.Logger.Info("the snapshot was right", "record", f.unproven, "reference", reference.N)
		f.unproven = 0
		f.checkpoints.kept = mark{} // it says otherwise
	}
	if was == agreed {
		return nil
	}
	f.cfg.Logger.Info("the state is the run's again", "record", reference.N)
	return f.Keep()
}

// rebuild begins the next stage of a repair; false if there is none.
func (f *Follower) rebuild() (bool, error) {
	reference, live := f.digests.reference, f.course.path(f.replica.N())
	from, why := "record 1", f.repair.stage
	switch {
	case why == agreed && f.checkpoints.usable(live) && f.checkpoints.kept.n < reference.N && !f.fromSnapshot(f.checkpoints.kept.n):
		f.repair.stage, from = fromCheckpoint, fmt.Sprintf("the checkpoint after record %d", f.checkpoints.kept.n)
	case why < fromFirst:
		f.repair.stage = fromFirst
	default:
		f.repair.stage = disagrees
	}
	f.repair.of = reference
	own := *f.digests.own
	if f.repair.stage == disagrees {
		f.cfg.Logger.Error("the state differs from the run's, also replayed from record 1: going on with it",
			"record", reference.N, "digest", fmt.Sprintf("%x", own), "reference", fmt.Sprintf("%x", reference.Digest))
		err := fmt.Errorf("%w: after record %d digest %x, reference %x, also replayed from record 1: going on with it",
			ErrDiverged, reference.N, own, reference.Digest)
		if err := f.report(Progress{Aside: true, Err: err}); err != nil {
			return false, err
		}
		if why == disagrees {
			return false, nil // told before: checkpoints as ever
		}
		return false, f.Keep()
	}
	f.cfg.Logger.Error("the state differs from the run's: rebuilding", "from", from,
		"record", reference.N, "digest", fmt.Sprintf("%x", own), "reference", fmt.Sprintf("%x", reference.Digest))
	if f.unproven > 0 {
		f.snapshots.distrust = true
	}
	err := fmt.Errorf("%w: after record %d digest %x, reference %x: rebuilding from %s",
		ErrDiverged, reference.N, own, reference.Digest, from)
	if err := f.report(Progress{Err: err}); err != nil {
		return false, err
	}
	if f.repair.stage == fromFirst && f.checkpoints.kept.n > 0 {
		f.checkpoints.kept = mark{}
		if err := f.cfg.Shelf.Discard(itemCheckpoint, ErrDiverged); err != nil {
			return false, err
		}
	}
	return true, f.startOver(f.repair.stage == fromCheckpoint)
}

// fromSnapshot says whether the state after record n came of the snapshot that
// nothing has proven yet.
func (f *Follower) fromSnapshot(n uint64) bool { return f.unproven > 0 && n >= f.unproven }

// prove ends a run's last state only once it is proven: one that began with a
// snapshot, and that no reference agreed with, is replayed from the log.
func (f *Follower) prove(ctx context.Context, h *Head) error {
	if f.unproven == 0 || f.replica.Ended() == nil {
		return nil
	}
	f.snapshots.distrust = true
	err := fmt.Errorf("%w: the run ended and no reference proved the snapshot after record %d: replaying", errSnapshot, f.unproven)
	f.cfg.Logger.Warn("replaying", "err", err)
	if err := f.report(Progress{Err: err}); err != nil {
		return err
	}
	was, unproven := f.replica, f.unproven
	if err := f.startOver(f.checkpoints.usable(f.course.path(h.Last)) && !f.fromSnapshot(f.checkpoints.kept.n)); err != nil {
		return err
	}
	if err = f.catchUp(ctx, h); err != nil && f.replica.Ended() == nil && !errors.Is(err, ErrNotOurs) {
		// Likely right is better than the first parameters, should nobody answer any more.
		f.replace(was)
		f.unproven, f.course.passed = unproven, 0
		f.digests.forget()
	}
	return err
}
