package runlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/wire"
)

// A Log stores the records of one run, and the ids of its members. Last, Read
// and Lost may be called from any goroutine, the others from one at a time.
type Log interface {
	// Begin makes the caller the log's coordinator and returns its epoch:
	// larger than that of any Begin before, and than the last record's. Where
	// coordinators share a log, it waits until no other one leads, or ctx ends.
	// After it Last, Read and Members show all that is stored.
	Begin(ctx context.Context) (epoch uint64, err error)

	// Lost is closed when another coordinator may lead from now on; it is nil
	// where none can. Each Begin makes a new one.
	Lost() <-chan struct{}

	// Append stores record n, which must be Last()+1. When it returns nil,
	// the record survives a crash. A [*ConflictError] says that another record
	// has the index n. After any other error it is unknown whether the record
	// is stored; the caller appends the same bytes again, unless it matches
	// [ErrCorrupt] or [ErrPlan], which repetition does not mend.
	Append(ctx context.Context, n uint64, record []byte) error

	// Last returns the index of the last record, 0 for an empty log.
	Last() uint64

	// Read calls f with records from, from+1, ... until f returns false or the
	// log ends, or ctx: then it returns the cause. f must not keep or change the
	// record.
	Read(ctx context.Context, from uint64, f func(n uint64, record []byte) bool) error

	// AddMembers gives ids the next slots, in order. When it returns nil, they
	// survive a crash; after an error, none of them may be used. The error
	// matches [ErrDeposed] if another coordinator has given these slots away.
	AddMembers(ctx context.Context, ids []string) error

	// Members returns the ids by slot.
	Members() ([]string, error)

	// Close releases the log; no other call may follow.
	Close() error
}

// MemberBatch is how many ids [CopyLog] gives AddMembers at once: their lines fit a record.
const MemberBatch = wire.MaxRecord / (wire.MaxName + 1)

// Errors of a Log.
var (
	// ErrConfig: what a log, or who works with it, was given cannot be used; the text
	// says what.
	ErrConfig = errors.New("bad config")
	// ErrNoLog: there is no log of that run.
	ErrNoLog = errors.New("there is no such log")
	// ErrPlan: the log is of another plan than the configured one. Continue with
	// the log's plan (leave Config.Plan nil), or start another log.
	ErrPlan = errors.New("plan differs from the log's")
	// ErrLocked: another coordinator has the log open.
	ErrLocked = errors.New("in use by another coordinator")
	// ErrCorrupt: stored bytes are not what was written. Restore the log from
	// a copy: devices hold records that it should hold.
	ErrCorrupt = errors.New("corrupt")
	// ErrOrder: an append that is not the next record.
	ErrOrder = errors.New("not the next record")
	// ErrDeposed: another coordinator leads the run now. Call [New] again with
	// the same log to stand by, and to go on when the other one stops.
	ErrDeposed = errors.New("another coordinator leads")
)

// A ConflictError says that the log holds another record N than the one that
// was to be appended. Record N and all before it can be read from the log.
type ConflictError struct {
	N      uint64
	Record []byte // what the log holds
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("log: record %d is another one already", e.N)
}

// Is says that the record was not the log's next one: [ErrOrder].
func (e *ConflictError) Is(target error) bool { return target == ErrOrder }

// IsLost says whether a channel of [Log.Lost] was closed.
func IsLost(lost <-chan struct{}) bool {
	select {
	case <-lost:
		return true
	default:
		return false
	}
}

// Epochs is a log whose epochs can be known without beginning. [CopyLog] needs it, so
// that the copy's epochs go on where those of the log end; those of this module have it.
type Epochs interface {
	// LastEpoch returns the largest that a Begin returned; 0 if there was none.
	LastEpoch(ctx context.Context) (uint64, error)
	// PassEpochs makes Begin return larger ones than last, for good.
	PassEpochs(ctx context.Context, last uint64) error
}
