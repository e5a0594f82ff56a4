package secagg

import "encoding/binary"

// This file computes Shamir's shares over GF(2^8), byte by byte. A secret is the value at 0 of a
// polynomial of degree t-1; share x, for x = 1..255, is the value at x. The field is the field of
// AES, modulo x^8+x^4+x^3+x+1.

// A lane is a secret, a coefficient or a share: 32 bytes in little-endian words.
type lane [keyLen / 8]uint64

func laneOf(b []byte) (l lane) {
	for i := range l {
		l[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return l
}

func (l lane) append(b []byte) []byte {
	for _, word := range l {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return b
}

// plusTimes adds c*other to each byte. The running time depends only on c, and c is public.
func (l *lane) plusTimes(other *lane, c byte) {
	for i, v := range other {
		l[i] ^= times(v, c)
	}
}

// times multiplies each of 8 bytes by c.
func times(v uint64, c byte) (product uint64) {
	for ; c != 0; c >>= 1 {
		if c&1 != 0 {
			product ^= v
		}
		v = v&0x7f7f7f7f7f7f7f7f<<1 ^ v>>7&0x0101010101010101*0x1b
	}
	return product
}

// inverse returns 1/c = c^254.
func inverse(c byte) byte {
	product := uint64(1)
	for range 254 {
		product = times(product, c)
	}
	return byte(product)
}

// share returns the value at x of the polynomial whose first coefficient is the secret, by Horner's
// scheme.
func share(secret lane, others []lane, x byte) (value lane) {
	for i := len(others) - 1; i >= 0; i-- {
		for w := range value {
			value[w] = times(value[w], x) ^ others[i][w]
		}
	}
	for w := range value {
		value[w] = times(value[w], x) ^ secret[w]
	}
	return value
}

// lagrange returns the Lagrange weights of the distinct points xs for the point x. The weighted sum
// of a polynomial's values at xs is its value at x. Weight i is prod_{j != i} (x - x_j)/(x_i -
// x_j).
func lagrange(xs []byte, x byte) []byte {
	weights := make([]byte, len(xs))
	for i, xi := range xs {
		above, below := uint64(1), uint64(1)
		for j, xj := range xs {
			if j != i {
				above, below = times(above, x^xj), times(below, xi^xj)
			}
		}
		weights[i] = byte(times(above, inverse(byte(below))))
	}
	return weights
}

// combine returns the sum of the shares, each times its weight.
func combine(weights []byte, shares []lane) (sum lane) {
	for i, weight := range weights {
		sum.plusTimes(&shares[i], weight)
	}
	return sum
}
