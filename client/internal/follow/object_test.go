package follow

import (
	"testing"

	"github.com/zofl/zofl/wire"
)

// A vector that arrives in pieces is in memory once: the first piece allocates all of it. Memory of
// an earlier vector is used again if it suffices.
func TestVectorIsInMemoryOnce(t *testing.T) {
	const size = 5*wire.MaxPiece + 10
	for _, spare := range [][]byte{nil, make([]byte, 0, 100), make([]byte, 0, size)} {
		p := part{data: spare}
		p.take(make([]byte, wire.MaxPiece), size)
		first := &p.data[0]
		for len(p.data) < size {
			p.take(make([]byte, min(wire.MaxPiece, size-len(p.data))), size)
		}
		if cap(p.data) > size+size/8 || &p.data[0] != first {
			t.Errorf("%d bytes in a buffer of %d, moved: %v", len(p.data), cap(p.data),
				&p.data[0] != first)
		}
		if cap(spare) >= size && first != &spare[:1][0] {
			t.Error("the spare memory is not used")
		}
	}
}
