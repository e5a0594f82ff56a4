package compact

import (
	"math/bits"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// mostQuotient bounds the unary part of a gap's code, so that a few elements far apart do not take
// many bytes.
const mostQuotient = 1 << 12

// rice returns the number of bits of a gap's remainder in the Golomb-Rice code. Gaps of n random
// elements among members have the mean members/n. With log2(members/n) bits the code is at most 3 %
// longer than with the best number of bits.
func rice(members uint32, n int) int {
	return max(bits.Len64(uint64(members)/uint64(n))-1, 0)
}

// appendSet appends ascending numbers as Golomb-Rice codes of their gaps. The first gap is the
// first number; each later gap is the difference from the number before, less 1. A gap is coded as
// its quotient by 2^k in unary (ones, then a zero), and then its remainder in k bits. Bits fill
// each byte from the highest on; zeros fill up the last byte. ok is false if a gap is too large for
// this code.
func appendSet(b []byte, set []uint32, members uint32) (_ []byte, ok bool) {
	k, free, next := rice(members, len(set)), 0, uint32(0)
	bit := func(v uint32) {
		if free == 0 {
			b, free = append(b, 0), 8
		}
		free--
		b[len(b)-1] |= byte(v << free)
	}
	for _, v := range set {
		gap := v - next
		if gap>>k > mostQuotient {
			return b, false
		}
		for range gap >> k {
			bit(1)
		}
		bit(0)
		for i := k - 1; i >= 0; i-- {
			bit(gap >> i & 1)
		}
		next = v + 1
	}
	return b, true
}

// set reads n numbers that ascend. [Announcement.Read] compares the whole frame, and so checks that
// zeros fill the last byte.
func (r *reader) set(n int, members uint32) []uint32 {
	k, at, next, set := rice(members, n), 0, uint64(0), make([]uint32, 0, n)
	bit := func() uint64 {
		if at>>3 >= len(r.b) {
			r.fail("term source", wire.ErrTruncated)
			return 0
		}
		v := r.b[at>>3] >> (7 - at&7) & 1
		at++
		return uint64(v)
	}
	for range n {
		gap := uint64(0)
		for bit() == 1 {
			if gap++; gap > mostQuotient {
				r.fail("term source", wire.ErrLimit)
			}
		}
		for range k {
			gap = gap<<1 | bit()
		}
		if next += gap; next > plan.MaxMembers {
			r.fail("term source", wire.ErrLimit)
		}
		if r.err != nil {
			return nil
		}
		set = append(set, uint32(next))
		next++
	}
	r.b = r.b[(at+7)>>3:]
	return set
}
