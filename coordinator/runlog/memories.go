package runlog

import (
	"context"
	"fmt"
)

// Logs that remember their last record implement Memories. So they detect a lost end: without its
// end, a chain still looks whole. The logs in files and in JetStream implement it.
type Memories interface {
	// Seen returns the last record that the log is known to have held, at least Last. If Seen is
	// larger than Last, records were lost.
	Seen(ctx context.Context) (last uint64, err error)

	// Forget accepts the loss: Seen then returns Last. Only the leading coordinator may call it.
	Forget(ctx context.Context) error

	// Left describes, for people, what a log without records still holds of an earlier run, such as
	// its members. It is empty if the log holds none of these.
	Left(ctx context.Context) (string, error)
}

// A log that may find unfinished work of a crash when it opens implements Notes.
type Notes interface {
	// Notes describes the unfinished work, for people. No device was told that this work is stored.
	Notes() []string
}

// A LossError says that a log became shorter: its last record is Last, but it once held record
// Seen. It matches [ErrCorrupt].
type LossError struct{ Last, Seen uint64 }

// Lost returns how many records are missing.
func (e *LossError) Lost() uint64 { return e.Seen - e.Last }

func (e *LossError) Error() string {
	return fmt.Sprintf("the log ends with record %d and held record %d: %d records are missing: "+
		"restore it from a copy, or accept that they are lost with `zofl serve --accept-loss %d`",
		e.Last, e.Seen, e.Lost(), e.Lost())
}

// Is makes the error match [ErrCorrupt].
func (e *LossError) Is(target error) bool { return target == ErrCorrupt }

// CheckLoss returns a [*LossError] if the log lost records, and their number is not accepted.
func CheckLoss(ctx context.Context, log Log, accepted uint64) error {
	m, ok := log.(Memories)
	if !ok {
		return nil
	}
	seen, err := m.Seen(ctx)
	if err != nil {
		return err
	}
	loss := &LossError{Last: log.Last(), Seen: seen}
	if seen > loss.Last && loss.Lost() != accepted {
		return loss
	}
	return nil
}

// ErrLeft: the log has no records, but once held a run.
var ErrLeft = fmt.Errorf("%w: the log has no records, and is that of an earlier run", ErrCorrupt)

// CheckEmpty returns an error that matches [ErrLeft] if the log has no records and still holds
// something of an earlier run.
func CheckEmpty(ctx context.Context, log Log) error {
	m, ok := log.(Memories)
	if !ok || log.Last() > 0 {
		return nil
	}
	left, err := m.Left(ctx)
	if err != nil || left == "" {
		return err
	}
	return fmt.Errorf("%w: there is %s: restore the log from a copy, build one from a device's "+
		"state with `zofl recover --from DEVICE-STATE`, or begin another run with `zofl serve "+
		"--begin-anew`", ErrLeft, left)
}
