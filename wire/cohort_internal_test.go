package wire

import "testing"

func TestPermuteIsAPermutation(t *testing.T) {
	for _, members := range []uint32{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 255, 256, 257, 1000, 4097} {
		for n := range uint64(5) {
			key := drawKey(drawRound, "r", n, 0)
			seen := make([]bool, members)
			for slot := range members {
				to := permute(slot, members, key)
				if to >= members || seen[to] {
					t.Fatalf("members %d, n %d: slot %d goes to %d, outside or taken", members, n,
						slot, to)
				}
				seen[to] = true
			}
		}
	}
}

func TestPermuteStaysInLargeRosters(t *testing.T) {
	for _, members := range []uint32{MaxMembers, MaxMembers - 1, 1<<23 + 1} {
		seen := map[uint32]uint32{}
		for i := range uint32(2000) {
			slot := i * (members / 2000)
			to := permute(slot, members, 42)
			if before, taken := seen[to]; taken || to >= members {
				t.Fatalf("members %d: slot %d goes to %d, as %d does", members, slot, to, before)
			}
			seen[to] = slot
		}
	}
}
