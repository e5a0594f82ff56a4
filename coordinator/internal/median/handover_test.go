package median

import (
	"math"
	"testing"
)

// Append and Read keep the running median, and Read takes nothing else.
func TestHandover(t *testing.T) {
	var from, to Running
	for i := range 40 {
		if b := from.Append(nil); !to.Read(b) || to.Value() != from.Value() {
			t.Errorf("after %d rounds %v became %v", i, from.Value(), to.Value())
		}
		for range 10 { // the copy forgets the same rounds
			to.Add(float64(i))
			from.Add(float64(i))
			if to.Value() != from.Value() {
				t.Errorf("%v became %v", from.Value(), to.Value())
			}
		}
		from.Add(float64(i*7919%101) + 0.5)
	}
	whole := from.Append(nil)
	bad := Running{n: 1, last: [Window]float64{math.Inf(1)}}
	for _, b := range [][]byte{whole[1:], append(whole, 0), append(whole, whole[:8]...),
		make([]byte, 8), bad.Append(nil)} {
		if to.Read(b) || to.Value() != 0 {
			t.Errorf("%x became %v", b, to.Value())
		}
	}
}
