package prng

// Term is one summand of a step: the coefficient A times the direction Z.
type Term struct {
	A float32
	Z Direction
}

// groupLen Rademacher terms are summed by one table lookup an element.
const groupLen = 8

// tileLen is how much of dst takes all terms before the next part does, to stay in a cache.
const tileLen = 4 * BlockLen

// Sum adds terms to a part of a vector: to each dst[i], in the order given, the terms
// float32(A * Z[block*BlockLen + i]). Where a term and the seven after it are all Rademacher, the
// eight are a group: their sum is rounded as ((±a0 ± a1) ± a2) ... ± a7 and added to dst[i] as one
// number. Groups are found from the first term on and never cross a call, so the caller passes
// all terms of a step in one call.
func Sum(dst []float32, terms []Term, block uint32) {
	checkBlocks(block, len(dst))
	for ; len(dst) > 0; block += tileLen / BlockLen {
		tile := dst[:min(tileLen, len(dst))]
		dst = dst[len(tile):]
		sumTile(tile, terms, block)
	}
}

func sumTile(dst []float32, terms []Term, block uint32) {
	for len(terms) > 0 {
		if isGroup(terms) {
			sumGroup(dst, (*[groupLen]Term)(terms), block)
			terms = terms[groupLen:]
			continue
		}
		perturb(dst, dst, terms[0].A, &terms[0].Z, block)
		terms = terms[1:]
	}
}

// isGroup reports whether terms starts with a group of Rademacher terms.
func isGroup(terms []Term) bool {
	if len(terms) < groupLen {
		return false
	}
	for i := range terms[:groupLen] {
		if terms[i].Z.Dist != Rademacher {
			return false
		}
	}
	return true
}

// groupSums holds the sum of a group for each pattern of signs: bit j of the index is the sign of
// term j, 1 for minus.
type groupSums [1 << groupLen]float32

func (t *groupSums) set(terms *[groupLen]Term) {
	t[0], t[1] = terms[0].A, -terms[0].A
	for j := 1; j < groupLen; j++ {
		n := 1 << j
		for i, sum := range t[:n] {
			t[i] = sum + terms[j].A
			t[i+n] = sum - terms[j].A
		}
	}
}

func sumGroup(dst []float32, terms *[groupLen]Term, block uint32) {
	var sums groupSums
	sums.set(terms)
	var s [groupLen]signs
	for ; len(dst) > 0; block++ {
		for j := range s {
			s[j].load(&terms[j].Z, block)
		}
		d := dst[:min(BlockLen, len(dst))]
		dst = dst[len(d):]
		i := 0
		for ; len(d) >= 64; i++ {
			sums.add((*[64]float32)(d), &s, i)
			d = d[64:]
		}
		if len(d) > 0 {
			var last [64]float32
			copy(last[:], d)
			sums.add(&last, &s, i)
			copy(d, last[:])
		}
	}
}

// add adds to the 64 elements of word i the sums that their signs select.
func (t *groupSums) add(dst *[64]float32, s *[groupLen]signs, i int) {
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
