package runlog

import (
	"context"
	"fmt"
)

// Logs that store the index of their last record elsewhere implement Memories. A log with Memories
// detects that its last records were lost. The chain of hashes cannot show that, because a shorter
// chain is also valid. The logs in files and in JetStream implement Memories.
type Memories interface {
	// Seen returns the last record that the log is known to have held, at least Last. If Seen is
	// larger than Last, records were lost.
	Seen(ctx context.Context) (last uint64, err error)

	// Forget accepts the loss: Seen then returns Last. Only the leading coordinator may call it.
	Forget(ctx context.Context) error

	// Left describes, for people, what a log without records still holds of an earlier run, such as
	// its members. Left returns "" if the log holds nothing of an earlier run.
	Left(ctx context.Context) (string, error)
}

// A log implements Notes if opening it may find work that a crash left unfinished.
type Notes interface {
	// Notes describes the unfinished work, for people. No device was told that this work is stored.
	Notes() []string
}

// A LossError says that a log lost records: its last record is Last, but the log once held record
// Seen. A LossError matches [ErrCorrupt].
type LossError struct{ Last, Seen uint64 }

// Lost returns how many records are missing.
func (e *LossError) Lost() uint64 { return e.Seen - e.Last }

func (e *LossError) Error() string {
	missing, they := "records are", "they are"
	if e.Lost() == 1 {
		missing, they = "record is", "it is"
	}
	return fmt.Sprintf("the log ends with record %d and held record %d: %d %s missing: restore the "+
		"log from a copy, or accept that %s lost with `zofl serve --accept-loss %d`", e.Last, e.Seen,
		e.Lost(), missing, they, e.Lost())
}

// Is makes the error match [ErrCorrupt].
func (e *LossError) Is(target error) bool { return target == ErrCorrupt }

// CheckLoss returns a [*LossError] if the log lost records, and their number differs from accepted.
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
