package runlog

import (
	"errors"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
)

func TestObjectNames(t *testing.T) {
	want := NameOf(12, 3, []byte("x"))
	if got, ok := ParseObjectName(want.String()); !ok || got != want {
		t.Errorf("%v, %t", got, ok)
	}
	s := want.String()
	for _, bad := range []string{"", "x", s[:len(s)-1], s + "0", "0" + s, s + ".zofl-new", "-" + s,
		"lock"} {
		if got, ok := ParseObjectName(bad); ok {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}

func TestMemoryObjectThatChanged(t *testing.T) {
	name := NameOf(2, 1, chaintest.Vector(1, 2, 3))
	memory := &Memory{objects: map[ObjectName][]byte{name: chaintest.Vector(1)}}
	data, err := memory.Object(t.Context(), name)
	if !errors.Is(err, ErrCorrupt) || strings.Count(err.Error(), "record 2") != 1 || data != nil {
		t.Errorf("%d bytes, %v, want ErrCorrupt, and the record once", len(data), err)
	}
}
