package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// mustPause is the least time between searches for a snapshot if nothing else helps.
const mustPause = 2 * time.Second

// errBelow says that the log begins with a state, and that the device needs records from before
// that state.
var errBelow = errors.New("the log no longer has the records that this device needs")

// must says whether only a snapshot can bring the replica further, because the log begins with a
// state after the replica's.
func (f *Follower) must() bool { return f.replica.N() < f.start.N }

// noteStart notes where the log begins, from the answer to a request for records.
func (f *Follower) noteStart(from uint64, reply *wire.CatchUpReply) {
	if s, ok := reply.Start(); ok {
		f.start = s
	} else if from <= f.start.N {
		f.start = wire.LogStart{} // the log has its first records again
	}
}

// below returns the error for record n, if the log no longer has record n.
func (f *Follower) below(n uint64) error {
	if f.mayTake(f.last) {
		return errBehind
	}
	return fmt.Errorf("%w: record %d is from before the state after record %d with which the log "+
		"begins, and nobody has sent that state", errBelow, n, f.start.N)
}

// ownsBelow does the work of owns if the log begins with a later state than the replica's, or with
// the same state. Then the log has no record to compare with the replica's last one. ownsBelow
// believes that an earlier state is of this log, because there is nothing to compare.
func (f *Follower) ownsBelow() bool {
	n := f.replica.N()
	return n < f.start.N || n == f.start.N && f.replica.Hash() == f.start.Hash
}

// examineStart checks the snapshot with whose state the log begins.
func (f *Follower) examineStart(d *download, r *replica.Replica) error {
	if r.Hash() != f.start.Hash || r.Ended() != nil {
		return fmt.Errorf("%w: the log begins with another state after record %d", errSnapshot,
			d.n)
	}
	return f.examineDigest(d, r)
}

// Retreat goes back to the checkpoint in the store, if the log does not hold the replica's last
// record but holds the checkpoint's. Retreat returns false if the device did not go back to the
// checkpoint. An error is an error of Report.
func (f *Follower) Retreat(ctx context.Context) (bool, error) {
	at := f.checkpoints.stored
	if at.n < 2 || at.n >= f.replica.N() {
		return false, nil
	}
	record, err := f.Record(ctx, at.n)
	same := record != nil && wire.HashRecord(record) == at.hash ||
		record == nil && at.n == f.start.N && at.hash == f.start.Hash
	if err != nil || !same {
		return false, nil // the client starts over, which always helps
	}
	f.course.cut(at.n)
	f.epoch, f.last, f.ignored = 0, 0, 0
	f.batch = batch{}
	f.forgetOthers()
	f.replays.owed = true
	if err := f.startOver(true); err != nil {
		return false, err
	}
	return f.replica.N() == at.n, nil
}
