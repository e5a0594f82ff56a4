package prng

import "math"

// setGeneric sets the first 2^len(terms) sums to the sums of terms.
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

// addGeneric adds to dst the sums that the signs from word i on select. dst must not exceed the
// rest of a block.
func (t *groupSums) addGeneric(dst []float32, s *[groupLen]signs, i int) {
	for ; len(dst) >= 64; i++ {
		t.addWord((*[64]float32)(dst), s, uint(i))
		dst = dst[64:]
	}
	if len(dst) > 0 {
		var last [64]float32
		copy(last[:], dst)
		t.addWord(&last, s, uint(i))
		copy(dst, last[:])
	}
}

// everyByte is a processor word in which every byte is 1.
const everyByte = math.MaxUint / 0xff

// transpose transposes the 8x8 bits at each byte position k. Before, byte k of wj has the signs of
// elements 8k..8k+7 for term j. Afterwards, byte k of wj has the signs of element 8k+j for all
// eight terms.
func transpose(w0, w1, w2, w3, w4, w5, w6, w7 uint) (_, _, _, _, _, _, _, _ uint) {
	w0, w4 = swap(w0, w4, 4, everyByte*0x0f)
	w1, w5 = swap(w1, w5, 4, everyByte*0x0f)
	w2, w6 = swap(w2, w6, 4, everyByte*0x0f)
	w3, w7 = swap(w3, w7, 4, everyByte*0x0f)
	w0, w2 = swap(w0, w2, 2, everyByte*0x33)
	w1, w3 = swap(w1, w3, 2, everyByte*0x33)
	w4, w6 = swap(w4, w6, 2, everyByte*0x33)
	w5, w7 = swap(w5, w7, 2, everyByte*0x33)
	w0, w1 = swap(w0, w1, 1, everyByte*0x55)
	w2, w3 = swap(w2, w3, 1, everyByte*0x55)
	w4, w5 = swap(w4, w5, 1, everyByte*0x55)
	w6, w7 = swap(w6, w7, 1, everyByte*0x55)
	return w0, w1, w2, w3, w4, w5, w6, w7
}

// swap exchanges the bits of hi under mask with the bits of lo under mask<<shift.
func swap(lo, hi uint, shift int, mask uint) (uint, uint) {
	t := (lo>>shift ^ hi) & mask
	return lo ^ t<<shift, hi ^ t
}
