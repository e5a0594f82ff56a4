package follow

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/wire"
)

// ErrDiverged says that the digest of this device's state differs from the reference that the run
// announced. The text says after which record, and how the device reacts. [Progress].Err holds this
// error.
var ErrDiverged = errors.New("state differs from the run's")

// A repair says how far a device got in rebuilding a state that differs from the reference. For
// each reference the device rebuilds the state once from the checkpoint, if the checkpoint is of an
// earlier record. If the state still differs, the device rebuilds it once from record 1. If the
// state replayed from record 1 still differs, it is the state of the log, as far as this device can
// tell. The device continues with that state, reports the difference for each reference, and does
// not rebuild again until a reference agrees. Otherwise a wrong reference would make all devices
// replay the log again and again. For the same reason a device rebuilds for only one reference in
// restDigests: wrong references between right ones would have the same effect.
type repair struct {
	stage     repairStage
	reference wire.Reference // the last reference whose difference the device reported
	last      uint64         // record of the last reference for which the device rebuilt its state
}

// restDigests is how many times DigestEvery records pass between references for which a device
// rebuilds its state.
const restDigests = 8

type repairStage int

const (
	agreed         repairStage = iota
	fromCheckpoint             // rebuilding, or rebuilt, from the checkpoint
	fromRecord1                // rebuilding, or rebuilt, from record 1
	disagrees                  // rebuilt from record 1 in vain
)

// compare compares the state with the reference, and rebuilds the state if they differ. The
// replica is at the head.
func (f *Follower) compare(ctx context.Context, h *Head) error {
	for d := &f.digests; d.own != nil; {
		if *d.own == d.reference.Digest {
			return f.confirmed()
		}
		idle := f.repair.stage == disagrees || f.repair.stage == agreed
		if idle && f.repair.reference == d.reference {
			return nil
		}
		if idle && f.rests() {
			return f.keepOn("rebuilt not long ago")
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

// rests says whether the device rebuilt its state too few records ago to rebuild it again.
func (f *Follower) rests() bool {
	last, every := f.repair.last, uint64(f.replica.Plan().DigestEvery)
	return last > 0 && f.digests.reference.N < last+restDigests*every
}

// confirmed notes that the reference agrees with the state.
func (f *Follower) confirmed() error {
	was, reference := f.repair.stage, &f.digests.reference
	f.repair.stage = agreed
	proves := reference.N > f.unproven || f.replica.Ended() != nil && f.replica.N() == f.unproven
	if f.unproven > 0 && proves {
		f.cfg.Logger.Info("a reference proved the snapshot",
			"record", f.unproven, "reference", reference.N)
		f.unproven = 0
		f.checkpoints.stored = mark{} // the stored checkpoint says that the state is unproven
	}
	if was == agreed {
		return nil
	}
	f.cfg.Logger.Info("the state agrees with the run's again", "record", reference.N)
	return f.Keep()
}

// rebuild begins the next stage of a repair. rebuild returns false if there is none.
func (f *Follower) rebuild() (bool, error) {
	before := f.repair.stage
	from := f.nextStage()
	f.repair.reference, f.repair.last = f.digests.reference, f.digests.reference.N
	if f.repair.stage == disagrees {
		return false, f.goOn(before)
	}
	n, own, want := f.difference()
	f.cfg.Logger.Error("the state differs from the run's: rebuilding",
		"from", from, "record", n, "digest", own, "reference", want)
	if f.unproven > 0 {
		f.snapshots.distrust = true
	}
	err := fmt.Errorf("%w: after record %d digest %s, reference %s: rebuilding from %s",
		ErrDiverged, n, own, want, from)
	if err := f.report(Progress{Err: err}); err != nil {
		return false, err
	}
	if f.repair.stage == fromRecord1 && f.checkpoints.stored.n > 0 {
		f.checkpoints.stored = mark{}
		if err := f.cfg.Files.Discard(itemCheckpoint, ErrDiverged); err != nil {
			return false, err
		}
	}
	return true, f.startOver(f.repair.stage == fromCheckpoint)
}

// nextStage enters the next stage of a repair, and says from what it rebuilds the state.
func (f *Follower) nextStage() (from string) {
	stage, checkpoint := &f.repair.stage, f.checkpoints.stored.n
	usable := f.checkpoints.usable(f.course.path(f.replica.N())) &&
		checkpoint < f.digests.reference.N && !f.fromSnapshot(checkpoint)
	switch {
	case *stage == agreed && usable:
		*stage = fromCheckpoint
		return fmt.Sprintf("the checkpoint after record %d", checkpoint)
	case *stage < fromRecord1:
		*stage = fromRecord1
	default:
		*stage = disagrees
	}
	return "record 1"
}

// goOn reports that the state differs although the device replayed it from record 1, and keeps the
// state.
func (f *Follower) goOn(before repairStage) error {
	if err := f.keepOn("also replayed from record 1"); err != nil {
		return err
	}
	if before == disagrees {
		return nil // not new: write checkpoints at their usual times
	}
	return f.Keep()
}

// keepOn reports that the state differs from the reference, and why the device keeps the state.
func (f *Follower) keepOn(why string) error {
	f.repair.reference = f.digests.reference
	n, own, want := f.difference()
	f.cfg.Logger.Error("the state differs from the run's: keeping it",
		"why", why, "record", n, "digest", own, "reference", want)
	err := fmt.Errorf("%w: after record %d digest %s, reference %s, %s: keeping it", ErrDiverged,
		n, own, want, why)
	return f.report(Progress{Aside: true, Err: err})
}

// difference returns the record of the reference, this device's digest and the reference's.
func (f *Follower) difference() (n uint64, own, want string) {
	reference := f.digests.reference
	return reference.N, fmt.Sprintf("%x", *f.digests.own), fmt.Sprintf("%x", reference.Digest)
}

// fromSnapshot says whether the state after record n began with the unproven snapshot.
func (f *Follower) fromSnapshot(n uint64) bool { return f.unproven > 0 && n >= f.unproven }

// prove replays the log after the run's end, if the state began with a snapshot and no reference
// has agreed with the state.
func (f *Follower) prove(ctx context.Context, h *Head) error {
	if f.unproven == 0 || f.replica.Ended() == nil {
		return nil
	}
	f.snapshots.distrust = true
	err := fmt.Errorf("%w: the run ended and no reference proved the snapshot after record %d: "+
		"replaying the log", errSnapshot, f.unproven)
	f.cfg.Logger.Warn("replaying the log", "err", err)
	if err := f.report(Progress{Err: err}); err != nil {
		return err
	}
	before, unproven := f.replica, f.unproven
	checkpoint := f.checkpoints.usable(f.course.path(h.Last)) &&
		!f.fromSnapshot(f.checkpoints.stored.n)
	if err := f.startOver(checkpoint); err != nil {
		return err
	}
	if err = f.catchUp(ctx, h); err != nil && f.replica.Ended() == nil &&
		!errors.Is(err, ErrNotOurs) {
		// The state from the snapshot is probably right. The snapshot's state is better than the first
		// parameters, in case no coordinator answers any more.
		f.replace(before)
		f.unproven, f.course.passed = unproven, 0
		f.digests.forget()
	}
	return err
}
