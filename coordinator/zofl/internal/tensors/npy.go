package tensors

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
)

func (f *File) parseNPY() error {
	h, err := vector.ReadHeader(f.section())
	if err != nil {
		return err
	}
	t, err := arrayOf("", &h, f.size)
	f.Tensors = []Tensor{t}
	return err
}

// arrayOf returns the tensor of a NumPy array that takes size bytes, with its header.
func arrayOf(name string, h *vector.Header, size int64) (t Tensor, err error) {
	t = Tensor{Name: name, Type: h.Descr, Shape: h.Shape}
	if t.Type == "" {
		t.Type = "records"
	}
	if len(h.Descr) != 3 || h.Descr[1:] != "f4" {
		t.Why = errType(t.Type, strings.HasPrefix(strings.TrimLeft(h.Descr, "<>=|"), "f"))
		return t, nil
	}
	if t.order, t.Why = h.Float32(); t.Why != nil {
		return t, nil
	}
	if t.Len, err = count(h.Shape); err != nil {
		return t, err
	}
	if have := size - h.Bytes; have != int64(4*t.Len) {
		return t, fmt.Errorf("%d bytes follow a header of %d float32", have, t.Len)
	}
	t.spans = []span{{h.Bytes, int64(4 * t.Len)}}
	return t, nil
}
