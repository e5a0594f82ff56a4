package codec

// A Reader reads the values of one frame in order. With each read, a caller names the field. After
// the first fault, every read returns zero, and [Reader.Fault] returns the fault and its field.
type Reader struct {
	frame string
	b     []byte // the bytes that remain
	field string // of the first fault
	err   error  // the first fault
}

// NewReader returns a reader of b, a frame or a part of one. frame is its name.
func NewReader(frame string, b []byte) Reader { return Reader{frame: frame, b: b} }

// OK reports whether there was no fault yet.
func (r *Reader) OK() bool { return r.err == nil }

// Fault returns the name of the frame, the field of the first fault, and the fault: one
// of this package's errors, or nil if there was none.
func (r *Reader) Fault() (frame, field string, err error) { return r.frame, r.field, r.err }

// Fail records a fault of a field, unless the Reader has recorded a fault before.
func (r *Reader) Fail(field string, err error) {
	if r.err == nil {
		r.field, r.err, r.b = field, err, nil
	}
}

// Positive records the fault ErrValue if v is zero, for a field that cannot be zero.
func (r *Reader) Positive(field string, v uint64) {
	if v == 0 {
		r.Fail(field, ErrValue)
	}
}

// Nonzero returns v. If v is zero, Nonzero records the fault ErrForm, because the canonical form of
// a map leaves out zeros.
func (r *Reader) Nonzero(field string, v uint64) uint64 {
	if v == 0 {
		r.Fail(field, ErrForm)
	}
	return v
}

// Rest returns the bytes that remain, or nil if there are none or after a fault.
func (r *Reader) Rest() []byte {
	if len(r.b) == 0 {
		return nil
	}
	return r.b
}

// Part reads a value with the function decode, which returns the bytes after the value. An error of
// decode must be a [*FieldError].
func (r *Reader) Part(field string, decode func(b []byte) (rest []byte, err error)) {
	if r.err != nil {
		return
	}
	rest, err := decode(r.b)
	if err == nil {
		r.b = rest
		return
	}
	if fault, ok := err.(*FieldError); ok {
		field, err = fault.Field, fault.Err
	}
	r.Fail(field, err)
}

// FieldFault returns the first fault as a [*FieldError], or nil.
func (r *Reader) FieldFault() error {
	if r.err == nil {
		return nil
	}
	return &FieldError{Field: r.field, Err: r.err}
}

// End records the fault ErrForm if bytes remain.
func (r *Reader) End() {
	if r.err == nil && len(r.b) > 0 {
		r.Fail("trailing bytes", ErrForm)
	}
}

// take returns the next n bytes, or nil after a fault.
func (r *Reader) take(field string, n int) []byte {
	if r.err != nil {
		return nil
	}
	if n > len(r.b) {
		r.Fail(field, ErrTruncated)
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}

// bigEndian reads n (1, 2, 4 or 8) bytes as an unsigned integer.
func (r *Reader) bigEndian(field string, n int) uint64 {
	var v uint64
	for _, c := range r.take(field, n) {
		v = v<<8 | uint64(c)
	}
	return v
}
