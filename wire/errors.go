package wire

import (
	"fmt"

	"github.com/zofl/zofl/internal/codec"
)

// Faults of frames. A [DecodeError] wraps one of these.
var (
	// ErrUpgrade: this build does not know a version, kind or field. A replica must
	// stop: update the program, then continue from the log.
	ErrUpgrade = errUpgrade() // "unknown to this version, upgrade"
	// ErrTruncated: the frame ends before its fields do.
	ErrTruncated = errTruncated() // "truncated"
	// ErrForm: the field has another msgpack type, or not its shortest form.
	ErrForm = errForm() // "not the expected msgpack form"
	// ErrLimit: a length or number exceeds the limits of this package.
	ErrLimit = errLimit() // "over the limit"
	// ErrValue: the bytes are well formed, but the field cannot have this value.
	ErrValue = errValue() // "bad value"
)

// Functions return the error values of package codec, so that the documentation shows no name of an
// internal package.

func errUpgrade() error   { return codec.ErrUpgrade }
func errTruncated() error { return codec.ErrTruncated }
func errForm() error      { return codec.ErrForm }
func errLimit() error     { return codec.ErrLimit }
func errValue() error     { return codec.ErrValue }

// A DecodeError says which field of which frame could not be read.
type DecodeError struct {
	Frame string // "record", "reply", ...
	Field string
	Err   error // one of the sentinels above
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("wire: %s: %s: %v", e.Frame, e.Field, e.Err)
}

func (e *DecodeError) Unwrap() error { return e.Err }
