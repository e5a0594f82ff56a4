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

// errBelow: the log begins with a state, and records from before it are needed.
var errBelow = errors.New("the log no longer has the records that this device needs")

// must says that only a snapshot can bring the replica further: the log begins with a state after
// the replica's.
func (f *Follower) must() bool { return f.replica.N() < f.start.N }

// noteStart notes where the log begins, from the answer to a request for records.
func (f *Follower) noteStart(from uint64, reply *wire.CatchUpReply) {
	if s, ok := reply.Start(); ok {
		f.start = s
	} else if from <= f.start.N {
		f.start = wire.LogStart{} // the log was restored
	}
}

// below is the consequence if the log no longer has a record.
func (f *Follower) below(n uint64) error {
	if f.mayTake(f.last) {
		return errBehind
	}
	return fmt.Errorf("%w: record %d is from before the state after record %d with which the log "+
		"begins, and nobody has sent that state", errBelow, n, f.start.N)
}

// ownsBelow is owns where the log has no record for the replica's last one, because it begins with
// a later state, or with this very one. A state from before cannot be compared.
func (f *Follower) ownsBelow() bool {
	n := f.replica.N()
	return n < f.start.N || n == f.start.N && f.replica.Hash() == f.start.Hash
}

// examineStart checks the snapshot at which the log begins.
func (f *Follower) examineStart(d *download, r *replica.Replica) error {
	if r.Hash() != f.start.Hash || r.Ended() != nil {
		return fmt.Errorf("%w: the log begins with another state after record %d", errSnapshot,
			d.n)
	}
	return f.examineDigest(d, r)
}

// Retreat goes back to the checkpoint in the store, if the log does not hold the replica's last
// record but holds the checkpoint's. It returns false if that does not help. It returns the error
// of Report.
func (f *Follower) Retreat(ctx context.Context) (bool, error) {
	at := f.checkpoints.stored
	if at.n < 2 || at.n >= f.replica.N() {
		return false, nil
	}
	record, err := f.Record(ctx, at.n)
	same := record != nil && wire.HashRecord(record) == at.hash ||
		record == nil && at.n == f.start.N && at.hash == f.start.Hash
	if err != nil || !same {
		return false, nil // it starts over, which always helps
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
