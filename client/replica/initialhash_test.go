package replica

import (
	"bytes"
	"testing"

	"github.com/zofl/zofl/prng"
)

// The hash of parameters that come in parts is their InitialDigest, wherever the parts end.
func TestInitialHash(t *testing.T) {
	x := make([]float32, 3*prng.BlockLen+5)
	for i := range x {
		x[i] = float32(i) / 3
	}
	for _, dim := range []int{1, prng.BlockLen - 1, prng.BlockLen, prng.BlockLen + 1, len(x)} {
		for _, size := range []int{1, 1000, prng.BlockLen, len(x)} {
			h := NewInitialHash(uint64(dim))
			for at := 0; at < dim; at += size {
				h.Add(x[at:min(at+size, dim)])
			}
			if got, want := h.Digest(), InitialDigest(x[:dim]); !bytes.Equal(got, want) {
				t.Errorf("%d parameters in parts of %d: %v, want %v", dim, size, got, want)
			}
		}
	}
}
