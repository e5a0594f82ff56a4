package prng

import "math/bits"

// Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
const (
	philoxRounds = 10
	philoxM0     = 0xD2511F53
	philoxM1     = 0xCD9E8D57
	philoxW0     = 0x9E3779B9 // added to the low key word after each round
	philoxW1     = 0xBB67AE85 // added to the high key word after each round
)

// Philox returns Philox4x32-10 of counter under the key words (low half, high half) of key.
func Philox(counter [4]uint32, key Key) [4]uint32 {
	c0, c1, c2, c3 := counter[0], counter[1], counter[2], counter[3]
	k0, k1 := uint32(key), uint32(key>>32)
	for range philoxRounds {
		p, q := uint64(c0)*philoxM0, uint64(c2)*philoxM1
		c0, c1, c2, c3 = uint32(q>>32)^c1^k0, uint32(q), uint32(p>>32)^c3^k1, uint32(p)
		k0 += philoxW0
		k1 += philoxW1
	}
	return [4]uint32{c0, c1, c2, c3}
}

// lanesPerBlock is the number of generators (lanes) that generate one block together. Vector units
// can run the lanes in parallel.
const lanesPerBlock = 8

// lanes holds the states of a block's xoroshiro128++ generators: s0 of all lanes, then s1.
type lanes [2][lanesPerBlock]uint64

// seedGeneric sets the states for the start of a block of z: lane i gets Philox of counter
// (8*block + i, step<<16 | perturbation, source, domain) under the key.
func (l *lanes) seedGeneric(z *Direction, block uint32) {
	position := uint32(z.Step)<<16 | uint32(z.Perturbation)
	for i := 0; i < lanesPerBlock-1; i += 2 {
		l[0][i], l[1][i], l[0][i+1], l[1][i+1] = philoxTwo(
			8*block+uint32(i), position, z.Source, uint32(z.Domain), z.Key)
	}
}

// philoxTwo returns Philox of counter (c0, c1, c2, c3) and of the next counter: first the low words
// of both, then the high words. philoxTwo computes both at the same time, because one computation
// alone would wait for its multiplications. The loop does two rounds in each iteration, because
// with one round an iteration would need extra moves between registers.
func philoxTwo(c0, c1, c2, c3 uint32, key Key) (s0, s1, u0, u1 uint64) {
	a0, a1, a2, a3 := c0, c1, c2, c3
	b0, b1, b2, b3 := c0+1, c1, c2, c3
	k0, k1 := uint32(key), uint32(key>>32)
	for range philoxRounds / 2 {
		p, q := uint64(a0)*philoxM0, uint64(a2)*philoxM1
		r, s := uint64(b0)*philoxM0, uint64(b2)*philoxM1
		a0, a1, a2, a3 = uint32(q>>32)^(a1^k0), uint32(q), uint32(p>>32)^(a3^k1), uint32(p)
		b0, b1, b2, b3 = uint32(s>>32)^(b1^k0), uint32(s), uint32(r>>32)^(b3^k1), uint32(r)
		k0, k1 = k0+philoxW0, k1+philoxW1
		p, q = uint64(a0)*philoxM0, uint64(a2)*philoxM1
		r, s = uint64(b0)*philoxM0, uint64(b2)*philoxM1
		a0, a1, a2, a3 = uint32(q>>32)^(a1^k0), uint32(q), uint32(p>>32)^(a3^k1), uint32(p)
		b0, b1, b2, b3 = uint32(s>>32)^(b1^k0), uint32(s), uint32(r>>32)^(b3^k1), uint32(r)
		k0, k1 = k0+philoxW0, k1+philoxW1
	}
	return uint64(a0) | uint64(a1)<<32, uint64(a2) | uint64(a3)<<32,
		uint64(b0) | uint64(b1)<<32, uint64(b2) | uint64(b3)<<32
}

// next returns the output of xoroshiro128++ in state s0, s1, and the next state.
func next(s0, s1 uint64) (out, t0, t1 uint64) {
	t0, t1 = after(s0, s0^s1)
	return output(s0, s1), t0, t1
}

// output returns the output of xoroshiro128++ (Blackman, Vigna) in state s0, s1.
func output(s0, s1 uint64) uint64 { return bits.RotateLeft64(s0+s1, 17) + s0 }

// after returns the state that follows s0, s1, given s0 and x = s0^s1.
func after(s0, x uint64) (t0, t1 uint64) {
	return bits.RotateLeft64(s0, 49) ^ x ^ x<<21, bits.RotateLeft64(x, 28)
}
