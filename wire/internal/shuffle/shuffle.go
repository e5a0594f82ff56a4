// Package shuffle permutes the slots of a roster: everybody who has the same key gets the same
// order.
package shuffle

import (
	"math/bits"

	"github.com/zofl/zofl/prng"
)

const rounds = 12

// To applies a pseudo-random permutation of 0..members-1 to slot: a Feistel network of 12
// rounds over the smallest even number of bits that holds members-1, applied again until the
// result is below members. Round i maps the halves (l, r) to
// (r, l XOR low bits of Philox({r, i, 0, 0}, key)[0]).
//
// With halves of one to three bits, permutations by four rounds are far from uniform: of the pairs
// of 5 slots, four rounds drew one pair 1.7 times as often as a uniform draw would.
func To(slot, members uint32, key prng.Key) uint32 {
	half := (bits.Len32(members-1) + 1) / 2
	mask := uint32(1)<<half - 1
	for {
		l, r := slot>>half, slot&mask
		for i := range uint32(rounds) {
			l, r = r, l^prng.Philox([4]uint32{r, i, 0, 0}, key)[0]&mask
		}
		if slot = l<<half | r; slot < members {
			return slot
		}
	}
}

// Back is the inverse of [To].
func Back(slot, members uint32, key prng.Key) uint32 {
	half := (bits.Len32(members-1) + 1) / 2
	mask := uint32(1)<<half - 1
	for {
		l, r := slot>>half, slot&mask
		for i := range uint32(rounds) {
			l, r = r^prng.Philox([4]uint32{l, rounds - 1 - i, 0, 0}, key)[0]&mask, l
		}
		if slot = l<<half | r; slot < members {
			return slot
		}
	}
}
