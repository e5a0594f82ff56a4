package secagg

import (
	"errors"
	"fmt"
)

// Errors of devices and servers. An error that a member caused comes in an [Error].
var (
	// ErrThreshold: too few devices are left in a neighborhood. The round has no sum: begin
	// another one, with another context.
	ErrThreshold = errors.New("fewer devices than the threshold are left: begin another round")
	// ErrMalformed: the bytes have not the form of this step's bytes.
	ErrMalformed = errors.New("malformed bytes")
	// ErrConflict: the caller gave other bytes before in the same step. The first bytes count.
	ErrConflict = errors.New("differs from what came before")
	// ErrForeign: the bytes come from a device that takes no part in this step, or a device made them
	// for another round, device or secret.
	ErrForeign = errors.New("not of this round, device or secret")
	// ErrStep: the step is not open yet, or is closed.
	ErrStep = errors.New("the step is not open")
	// ErrRound: a field of the Round is outside its limits.
	ErrRound = errors.New("invalid round")
	// ErrValue: a scalar is NaN or infinite, so no word can stand for the scalar.
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
