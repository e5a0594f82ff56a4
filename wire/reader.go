package wire

import "github.com/zofl/zofl/internal/codec"

// A reader reads one frame: msgpack values and the values of this package.
type reader struct{ codec.Reader }

// newReader returns a reader of a frame of at most MaxFrame bytes.
func newReader(frame string, b []byte) *reader {
	d := &reader{codec.NewReader(frame, b)}
	if len(b) > MaxFrame {
		d.Fail(frame, ErrLimit)
	}
	return d
}

// err returns the first fault as a [*DecodeError], or nil.
func (d *reader) err() error {
	frame, field, err := d.Fault()
	if err == nil {
		return nil
	}
	return &DecodeError{Frame: frame, Field: field, Err: err}
}

// bytes reads a byte string of exactly len(dst) bytes into dst.
func (d *reader) bytes(field string, dst []byte) {
	p := d.Bin(field, MaxFrame)
	if d.OK() && len(p) != len(dst) {
		d.Fail(field, ErrForm)
	}
	copy(dst, p)
}

// scalars reads at most max scalars, of two or four bytes each. The result aliases the frame.
func (d *reader) scalars(field string, max int) Scalars {
	p := d.Bin(field, 4*max)
	if len(p)%2 != 0 {
		d.Fail(field, ErrForm)
		return nil
	}
	return Scalars(p)
}

// floats reads at most max scalars of 4 bytes each. The result aliases the frame.
func (d *reader) floats(field string, max int) Scalars {
	s := d.scalars(field, max)
	if len(s)%4 != 0 {
		d.Fail(field, ErrForm)
		return nil
	}
	return s
}
