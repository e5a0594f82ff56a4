//go:build !(386 || arm || mips || mipsle)

package prng

// addWord adds to the 64 elements of word i the sums that their signs select.
func (t *groupSums) addWord(dst *[64]float32, s *[groupLen]signs, i uint) {
	i %= signWords
	w0, w1, w2, w3, w4, w5, w6, w7 := transpose(
		uint(s[0][i]), uint(s[1][i]), uint(s[2][i]), uint(s[3][i]),
		uint(s[4][i]), uint(s[5][i]), uint(s[6][i]), uint(s[7][i]))
	_, _ = t[0], dst[0] // nil checks before the loop
	for k := range 8 {
		d := (*[8]float32)(dst[8*k:])
		x0, x1, x2, x3 := d[0]+t[w0&255], d[1]+t[w1&255], d[2]+t[w2&255], d[3]+t[w3&255]
		x4, x5, x6, x7 := d[4]+t[w4&255], d[5]+t[w5&255], d[6]+t[w6&255], d[7]+t[w7&255]
		d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7] = x0, x1, x2, x3, x4, x5, x6, x7
		w0, w1, w2, w3, w4, w5, w6, w7 = w0>>8, w1>>8, w2>>8, w3>>8, w4>>8, w5>>8, w6>>8, w7>>8
	}
}
