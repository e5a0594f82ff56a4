package secagg

import (
	"errors"
	"fmt"
)

// Errors of devices and servers. Those that somebody caused come in an [Error].
var (
	// ErrThreshold: too few devices are left in a neighborhood. The round has no sum: begin
	// another one, with another context.
	ErrThreshold = errors.New("fewer devices than the threshold are left: begin another round")
	// ErrMalformed: these bytes are no answer, or nothing to answer, in this step.
	ErrMalformed = errors.New("malformed bytes")
	// ErrConflict: the same was asked or answered before with other bytes. The first counts.
	ErrConflict = errors.New("differs from what came before")
	// ErrForeign: from nobody who is in this step, or made for another round, device or secret.
	ErrForeign = errors.New("not of this round, device or secret")
	// ErrStep: the step is not open yet, or no more.
	ErrStep = errors.New("the step is not open")
	// ErrRound: a Round that cannot be.
	ErrRound = errors.New("invalid round")
	// ErrValue: a scalar that has no code.
	ErrValue = errors.New("not a finite number")
)

// An Error names the member that caused an error.
type Error struct {
	Slot uint32
	Err  error
}

// Error returns the text of the error with the slot.
func (e *Error) Error() string { return fmt.Sprintf("secagg: slot %d: %v", e.Slot, e.Err) }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

func blame(slot uint32, err error) error { return &Error{slot, err} }

func because(err error, format string, args ...any) error {
	return fmt.Errorf("%w: %s", err, fmt.Sprintf(format, args...))
}
