package prng

// setGeneric sets the first 2^len(terms) sums to those of terms.
func (t *groupSums) setGeneric(terms []Term) {
	t[0], t[1] = terms[0].A, -terms[0].A
	for j := 1; j < len(terms); j++ {
		n := 1 << j
		for i, sum := range t[:n] {
			t[i] = sum + terms[j].A
			t[i+n] = sum - terms[j].A
		}
	}
}

// addGeneric adds to dst, at most the rest of a block, the sums that the signs from word i on
// select.
func (t *groupSums) addGeneric(dst []float32, s *[groupLen]signs, i int) {
	for ; len(dst) >= 64; i++ {
		t.addWord((*[64]float32)(dst), s, i)
		dst = dst[64:]
	}
	if len(dst) > 0 {
		var last [64]float32
		copy(last[:], dst)
		t.addWord(&last, s, i)
		copy(dst, last[:])
	}
}

// addWord adds to the 64 elements of word i the sums that their signs select.
func (t *groupSums) addWord(dst *[64]float32, s *[groupLen]signs, i int) {
	i %= signWords
	w0, w1, w2, w3 := s[0][i], s[1][i], s[2][i], s[3][i]
	w4, w5, w6, w7 := s[4][i], s[5][i], s[6][i], s[7][i]
	// Transpose the 8x8 bits of each byte position: byte k of wj, which has elements 8k..8k+7 of
	// term j, becomes element 8k+j of all terms.
	w0, w4 = swap(w0, w4, 4, 0x0f0f0f0f0f0f0f0f)
	w1, w5 = swap(w1, w5, 4, 0x0f0f0f0f0f0f0f0f)
	w2, w6 = swap(w2, w6, 4, 0x0f0f0f0f0f0f0f0f)
	w3, w7 = swap(w3, w7, 4, 0x0f0f0f0f0f0f0f0f)
	w0, w2 = swap(w0, w2, 2, 0x3333333333333333)
	w1, w3 = swap(w1, w3, 2, 0x3333333333333333)
	w4, w6 = swap(w4, w6, 2, 0x3333333333333333)
	w5, w7 = swap(w5, w7, 2, 0x3333333333333333)
	w0, w1 = swap(w0, w1, 1, 0x5555555555555555)
	w2, w3 = swap(w2, w3, 1, 0x5555555555555555)
	w4, w5 = swap(w4, w5, 1, 0x5555555555555555)
	w6, w7 = swap(w6, w7, 1, 0x5555555555555555)
	for k := 0; k < 64-7; k += 8 {
		dst[k] += t[uint8(w0)]
		dst[k+1] += t[uint8(w1)]
		dst[k+2] += t[uint8(w2)]
		dst[k+3] += t[uint8(w3)]
		dst[k+4] += t[uint8(w4)]
		dst[k+5] += t[uint8(w5)]
		dst[k+6] += t[uint8(w6)]
		dst[k+7] += t[uint8(w7)]
		w0, w1, w2, w3 = w0>>8, w1>>8, w2>>8, w3>>8
		w4, w5, w6, w7 = w4>>8, w5>>8, w6>>8, w7>>8
	}
}

// swap exchanges the bits of hi under mask with those of lo under mask<<shift.
func swap(lo, hi uint64, shift int, mask uint64) (uint64, uint64) {
	t := (lo>>shift ^ hi) & mask
	return lo ^ t<<shift, hi ^ t
}
