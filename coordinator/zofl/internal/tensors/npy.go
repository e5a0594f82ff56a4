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

// arrayOf returns the tensor of a NumPy array that takes size bytes, header included.
func arrayOf(name string, h *vector.Header, size int64) (t Tensor, err error) {
	t = Tensor{Name: name, Type: h.Descr, Shape: h.Shape}
	if t.Type == "" {
		t.Type = "records"
	}
	order, letters := vector.ByteOrder(h.Descr), strings.TrimLeft(h.Descr, "<>=|")
	kind := map[string]string{"f4": "float32", "f2": "float16"}[letters]
	t.setType(kind, order, letters == "" || !strings.Contains("iub?SU", letters[:1]))
	switch {
	case t.kind == nil && name == "":
		t.Why = fmt.Errorf("its elements are %s: save x.astype('float32')", t.Type)
	case t.kind != nil && h.Fortran:
		t.kind, t.Why = nil, vector.ErrFortran
	}
	if t.kind == nil {
		return t, nil
	}
	if t.Len, err = count(h.Shape); err != nil {
		return t, err
	}
	need := t.kind.bytes * int64(t.Len)
	if have := size - h.Bytes; have != need {
		cure := ": " + damaged
		if have < need {
			cure = short(true)
		}
		return t, fmt.Errorf("%d bytes follow a header of %d %s%s", have, t.Len, kind, cure)
	}
	t.spans = []span{{h.Bytes, need}}
	return t, nil
}
