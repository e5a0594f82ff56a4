//go:build 386 || arm || mips || mipsle

package prng

// addWord adds to the 64 elements of word i the sums that their signs select.
func (t *groupSums) addWord(dst *[64]float32, s *[groupLen]signs, i uint) {
	i %= signWords
	var low, high [groupLen]uint
	for j := range s {
		low[j], high[j] = uint(s[j][i]), uint(s[j][i]>>32)
	}
	t.addHalf((*[32]float32)(dst[:]), &low)
	t.addHalf((*[32]float32)(dst[32:]), &high)
}

// addHalf adds to 32 elements the sums that their signs select, where w[j] holds the signs of term
// j. addHalf processes two transposed words at a time, because the processor has too few registers
// for eight.
func (t *groupSums) addHalf(dst *[32]float32, w *[groupLen]uint) {
	_, _ = t[0], dst[0] // check for nil here rather than in the loop
	w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7] = transpose(
		w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7])
	for j := 0; j < groupLen-1; j += 2 {
		u, v := w[j], w[j+1]
		d := (*[26]float32)(dst[j:])
		d[0] += t[u&255]
		d[1] += t[v&255]
		d[8] += t[u>>8&255]
		d[9] += t[v>>8&255]
		d[16] += t[u>>16&255]
		d[17] += t[v>>16&255]
		d[24] += t[u>>24]
		d[25] += t[v>>24]
	}
}
