package shuffle_test

import (
	"testing"

	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire/internal/shuffle"
)

func TestPermutation(t *testing.T) {
	for _, members := range []uint32{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 255, 256, 257, 1000, 4097} {
		for n := range prng.Key(5) {
			key := 0x9e3779b97f4a7c15 * n
			seen := make([]bool, members)
			for slot := range members {
				to := shuffle.To(slot, members, key)
				if to >= members || seen[to] {
					t.Fatalf("members %d, n %d: slot %d goes to %d, outside or taken", members, n,
						slot, to)
				}
				seen[to] = true
				if back := shuffle.Back(to, members, key); back != slot {
					t.Fatalf("members %d: slot %d goes to %d and back to %d", members, slot, to, back)
				}
			}
		}
	}
}

func TestLargeRosters(t *testing.T) {
	const most = 1 << 24 // plan.MaxMembers
	for _, members := range []uint32{most, most - 1, most/2 + 1} {
		seen := map[uint32]uint32{}
		for i := range uint32(2000) {
			slot := i * (members / 2000)
			to := shuffle.To(slot, members, 42)
			if before, taken := seen[to]; taken || to >= members {
				t.Fatalf("members %d: slot %d goes to %d, as %d does", members, slot, to, before)
			}
			seen[to] = slot
		}
	}
}
