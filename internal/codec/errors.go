package codec

import "errors"

// Faults of frames, which package wire exports.
var (
	// ErrUpgrade: a version, kind or field is unknown.
	ErrUpgrade = errors.New("unknown to this version, upgrade")
	// ErrTruncated: the frame ends before its fields do.
	ErrTruncated = errors.New("truncated")
	// ErrForm: the value does not have the msgpack type of the field, or is not in its shortest form.
	ErrForm = errors.New("not the expected msgpack form")
	// ErrLimit: a length or number is over its limit.
	ErrLimit = errors.New("over the limit")
	// ErrValue: the value is well formed, but the field cannot have it.
	ErrValue = errors.New("bad value")
)

// A FieldError says which field of a part of a frame a Reader could not read.
type FieldError struct {
	Field string
	Err   error // one of the errors above
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

func (e *FieldError) Unwrap() error { return e.Err }
