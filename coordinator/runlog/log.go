package runlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A Log stores the records of one run, and the ids of its members.
//
// Any goroutine may call Last, Read and Lost. Only the leading coordinator calls the other methods,
// from one goroutine at a time.
type Log interface {
	// Begin makes the caller the log's coordinator and returns its epoch, which is larger than the
	// epoch of any earlier Begin and of the last record. Where coordinators share a log, Begin waits
	// until no other coordinator leads, or until ctx ends. After Begin, Last, Read and Members show
	// everything that is stored.
	Begin(ctx context.Context) (epoch uint64, err error)

	// Lost returns a channel that closes once another coordinator may lead. The channel is nil for a
	// log that only one coordinator can open. Each Begin makes a new channel.
	Lost() <-chan struct{}

	// Append stores record n, which must be Last()+1. When Append returns nil, the record survives a
	// crash. A [*ConflictError] says that the log holds another record n. An error that matches
	// [ErrCorrupt] or [ErrPlan] is final. After any other error the record may or may not be stored,
	// and the caller appends the same bytes again.
	Append(ctx context.Context, n uint64, record []byte) error

	// Last returns the index of the last record, 0 for an empty log.
	Last() uint64

	// Read calls f with records from, from+1, ... until f returns false or the log ends. If ctx ends
	// first, Read returns the cause of ctx. f must not keep or change the record. The error matches
	// [ErrBelow] for a record before the state at which the log begins, see [Based].
	Read(ctx context.Context, from uint64, f func(n uint64, record []byte) bool) error

	// AddMembers gives ids the next slots, in order. If AddMembers returns nil, the members survive a
	// crash. After an error, the caller must not use any of the ids. The error matches [ErrDeposed] if
	// another coordinator has given these slots to other devices.
	AddMembers(ctx context.Context, ids []string) error

	// Retire removes a member for good: no other device gets its slot, and no round waits for it. You
	// may retire the same member again. When Retire returns nil, the retirement survives a crash.
	// After an error, the retirement may be stored. The error matches [ErrNoMember] if id is not a
	// member, and [ErrDeposed] if another coordinator has changed the roster.
	Retire(ctx context.Context, id string) error

	// Members returns all ids by slot, including retired ones.
	Members() ([]string, error)

	// Retired returns the retired members, in the order of their retirement.
	Retired() ([]string, error)

	// Close releases the log; no other call may follow.
	Close() error
}

// MemberBatch is how many ids [Copy] passes to AddMembers at once: as many as fit into one record.
const MemberBatch = (wire.MaxRecord - 256) / (plan.MaxName + 2)

// Errors of a Log.
var (
	// ErrConfig: a setting of a log, or of a package that uses the log, is invalid. The error's text
	// names the setting.
	ErrConfig = errors.New("bad config")
	// ErrNoLog: there is no log of that run.
	ErrNoLog = errors.New("there is no such log")
	// ErrUnavailable: the servers that store the log do not answer. The same call may succeed later.
	ErrUnavailable = errors.New("the servers that store the log do not answer")
	// ErrNoMember: no member has that id.
	ErrNoMember = errors.New("no such member")
	// ErrPlan: the log holds the run of another plan. Continue with the log's plan (leave Config.Plan
	// nil), or start another log.
	ErrPlan = errors.New("plan differs from the log's")
	// ErrLocked: another coordinator has the log open.
	ErrLocked = errors.New("in use by another coordinator")
	// ErrCorrupt: the stored bytes differ from the bytes that were written. Restore the log from a
	// copy: devices have applied records that it should hold.
	ErrCorrupt = errors.New("corrupt")
	// ErrOrder: the record is not the next one of the log.
	ErrOrder = errors.New("not the next record")
	// ErrDeposed: another coordinator leads the run now. If you start a new coordinator on the same
	// log, that coordinator stands by, and takes over when the leading one stops.
	ErrDeposed = errors.New("another coordinator leads")
)

// A ConflictError says that the log already holds a record N that differs from the appended record.
// You can read the stored records 1..N from the log.
type ConflictError struct {
	N      uint64
	Record []byte // the stored record N
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("log: record %d is another one already", e.N)
}

// Is makes the error match [ErrOrder], because the record was not the next one.
func (e *ConflictError) Is(target error) bool { return target == ErrOrder }

// IsLost says whether a channel that [Log.Lost] returned is closed.
func IsLost(lost <-chan struct{}) bool {
	select {
	case <-lost:
		return true
	default:
		return false
	}
}

// Logs whose epochs can be read and raised without Begin implement Epochs. [Copy] needs Epochs to
// continue the epochs of the source. Every log of this module implements Epochs.
type Epochs interface {
	// LastEpoch returns the largest epoch that a Begin returned, 0 if there was none.
	LastEpoch(ctx context.Context) (uint64, error)
	// PassEpochs makes every later Begin return an epoch larger than last, for good.
	PassEpochs(ctx context.Context, last uint64) error
}
