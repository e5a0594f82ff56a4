package tensors

import (
	"fmt"
	"io"
	"math"
	"os"

	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
)

// chunk is how many elements the package reads or writes at once.
const chunk = 1 << 16

// Params reads the parameters.
func (s *Selection) Params() (x []float32, err error) {
	if s.file.zip == nil { // where the elements are in the file
		x = make([]float32, 0, s.Len)
	}
	err = s.Each(func(part []float32, _ *Tensor) error {
		x = append(x, part...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return x, nil
}

// Each calls f with the parameters, part by part, and with the tensor of the part. The part is
// valid until f returns.
func (s *Selection) Each(f func(part []float32, t *Tensor) error) error {
	var r reader
	for i := range s.Tensors {
		t, own := &s.Tensors[i], error(nil)
		r.f = func(part []float32) error {
			own = f(part, t)
			return own
		}
		switch err := r.tensor(t, s.file.src); {
		case own != nil:
			return own
		case err != nil:
			return fmt.Errorf("%s: tensor %q: %w", s.file.Name, t.Name, err)
		}
	}
	return nil
}

// A reader passes the elements of tensors to f.
type reader struct {
	f     func([]float32) error
	bytes []byte // reused
	part  []float32
}

func (r *reader) tensor(t *Tensor, src io.ReaderAt) error {
	if t.member != nil {
		return r.unpack(t)
	}
	for _, s := range t.spans {
		from := io.NewSectionReader(src, s.at, s.bytes)
		if err := r.decode(t.kind, from, s.bytes/t.kind.bytes); err != nil {
			return err
		}
	}
	return nil
}

// unpack reads a member to its end, because package zip compares the checksum only there.
func (r *reader) unpack(t *Tensor) error {
	member, err := t.member.Open()
	if err != nil {
		return err
	}
	defer member.Close()
	if _, err := io.CopyN(io.Discard, member, t.spans[0].at); err != nil {
		return err
	}
	if err := r.decode(t.kind, member, int64(t.Len)); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, member)
	return err
}

// decode reads n elements. The memory of decode does not grow with n.
func (r *reader) decode(e *element, from io.Reader, n int64) error {
	for n > 0 {
		r.bytes = room(r.bytes, e.bytes*min(n, chunk))
		r.part = room(r.part, min(n, chunk))
		if _, err := io.ReadFull(from, r.bytes); err != nil {
			return err
		}
		for i := range r.part {
			r.part[i] = e.get(r.bytes[e.bytes*int64(i):])
		}
		if err := r.f(r.part); err != nil {
			return err
		}
		n -= int64(len(r.part))
	}
	return nil
}

// room returns a slice of n elements, in the memory of v if that suffices.
func room[T any](v []T, n int64) []T {
	if int64(cap(v)) < n {
		return make([]T, n)
	}
	return v[:n]
}

// A writer encodes elements in memory that it uses again.
type writer struct{ bytes []byte }

// encode calls to with the bytes of x, part by part. A part is valid until to returns.
func (w *writer) encode(e *element, x []float32, to func([]byte) error) error {
	for len(x) > 0 {
		n := min(int64(len(x)), chunk)
		w.bytes = room(w.bytes, e.bytes*n)
		for i, v := range x[:n] {
			e.put(w.bytes[e.bytes*int64(i):], v)
		}
		if err := to(w.bytes); err != nil {
			return err
		}
		x = x[n:]
	}
	return nil
}

// Write stores a copy of the file under a new name, with x as the parameters. Every other byte
// stays the same. Write compresses a .npz anew, unless x equals its elements, but other members
// keep their content. The copy appears complete or not at all. If the name exists, the error
// matches [os.ErrExist].
func (s *Selection) Write(name string, x []float32) error {
	if uint64(len(x)) != s.Len {
		return fmt.Errorf("%s: %d parameters for tensors of %d", name, len(x), s.Len)
	}
	if Format(name) != s.file.Format {
		return fmt.Errorf("%s: the copy of a %s is one, too: end the name so", name, s.file.Format)
	}
	if err := s.fits(x); err != nil {
		return err
	}
	changed := true
	if s.file.zip != nil {
		var err error
		if changed, err = s.differs(x); err != nil {
			return err
		}
	}
	return vector.Create(name, func(out *os.File) error {
		if s.file.zip != nil && changed {
			return s.writeNPZ(out, x)
		}
		if _, err := io.Copy(out, s.file.section()); err != nil || !changed {
			return err
		}
		return s.patch(out, x)
	})
}

// fits returns an error if a tensor cannot hold its parameters.
func (s *Selection) fits(x []float32) error {
	for _, t := range s.Tensors {
		if err := t.kind.fits(x[:t.Len]); err != nil {
			return fmt.Errorf("%s: tensor %q: %w", s.file.Name, t.Name, err)
		}
		x = x[t.Len:]
	}
	return nil
}

// differs says whether an element of the file has other bits than x.
func (s *Selection) differs(x []float32) (differs bool, err error) {
	err = s.Each(func(part []float32, _ *Tensor) error {
		differs = differs || !same(part, x[:len(part)])
		x = x[len(part):]
		return nil
	})
	return differs, err
}

// same says whether all elements of two vectors have the same bits.
func same(a, b []float32) bool {
	for i, v := range a {
		if math.Float32bits(v) != math.Float32bits(b[i]) {
			return false
		}
	}
	return true
}

// patch writes the elements of x to their positions in the file.
func (s *Selection) patch(out io.WriterAt, x []float32) error {
	var w writer
	for i := range s.Tensors {
		t := &s.Tensors[i]
		for _, place := range t.spans {
			at, n := place.at, place.bytes/t.kind.bytes
			err := w.encode(t.kind, x[:n], func(b []byte) error {
				_, err := out.WriteAt(b, at)
				at += int64(len(b))
				return err
			})
			if err != nil {
				return err
			}
			x = x[n:]
		}
	}
	return nil
}
