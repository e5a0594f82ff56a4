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
	for i := range s.Tensors {
		t := &s.Tensors[i]
		if x, err = t.read(x, s.file.src); err != nil {
			return nil, fmt.Errorf("%s: tensor %q: %w", s.file.Name, t.Name, err)
		}
	}
	return x, nil
}

// read appends the tensor's elements to x.
func (t *Tensor) read(x []float32, src io.ReaderAt) (_ []float32, err error) {
	if t.member != nil {
		return t.unpack(x)
	}
	for _, s := range t.spans {
		r := io.NewSectionReader(src, s.at, s.bytes)
		if x, err = t.kind.decode(x, r, s.bytes/t.kind.bytes); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// unpack reads a member to its end, because package zip compares the checksum only there.
func (t *Tensor) unpack(x []float32) ([]float32, error) {
	r, err := t.member.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if _, err := io.CopyN(io.Discard, r, t.spans[0].at); err != nil {
		return nil, err
	}
	if x, err = t.kind.decode(x, r, int64(t.Len)); err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, r)
	return x, err
}

// decode appends n elements to x. The memory of x grows only with the bytes that decode has read.
func (e *element) decode(x []float32, r io.Reader, n int64) ([]float32, error) {
	b := make([]byte, e.bytes*min(n, chunk))
	for n > 0 {
		part := b[:e.bytes*min(n, chunk)]
		if _, err := io.ReadFull(r, part); err != nil {
			return nil, err
		}
		n -= int64(len(part)) / e.bytes
		for ; len(part) > 0; part = part[e.bytes:] {
			x = append(x, e.get(part))
		}
	}
	return x, nil
}

func (e *element) encode(x []float32) []byte {
	b := make([]byte, e.bytes*int64(len(x)))
	for i, v := range x {
		e.put(b[e.bytes*int64(i):], v)
	}
	return b
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
		had, err := s.Params()
		if err != nil {
			return err
		}
		changed = !same(had, x)
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
	for i := range s.Tensors {
		t := &s.Tensors[i]
		for _, place := range t.spans {
			for at, left := place.at, place.bytes/t.kind.bytes; left > 0; {
				n := min(left, chunk)
				if _, err := out.WriteAt(t.kind.encode(x[:n]), at); err != nil {
					return err
				}
				at, left, x = at+t.kind.bytes*n, left-n, x[n:]
			}
		}
	}
	return nil
}
