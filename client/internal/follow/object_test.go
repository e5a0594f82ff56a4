package follow

import (
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A download allocates memory as bytes arrive, and not for the size that the coordinator announced.
func TestDenseMemoryAsBytesCome(t *testing.T) {
	var p part
	for range 5 {
		p.take(make([]byte, wire.MaxPiece), 4*plan.MaxDense)
		if len(p.data) > cap(p.data) || cap(p.data) > 2*len(p.data) {
			t.Errorf("%d bytes in a buffer of %d", len(p.data), cap(p.data))
		}
	}
	p.take(make([]byte, 10), 5*wire.MaxPiece+10)
	if cap(p.data) > 8*wire.MaxPiece {
		t.Errorf("%d bytes in a buffer of %d", len(p.data), cap(p.data))
	}
}
