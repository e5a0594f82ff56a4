package prng

// Term is one summand of a step: the coefficient A times the direction Z.
type Term struct {
	A float32
	Z Direction
}

// groupLen is the number of Rademacher terms that one table lookup adds to an element.
const groupLen = 8

// tileLen is the length of the parts into which Sum divides dst. Sum adds all terms to one part
// before it begins the next part, so that each part stays in the cache.
const tileLen = 4 * BlockLen

// Sum adds terms to a part of a vector: to each dst[i], in the given order, the terms float32(A *
// Z[block*BlockLen + i]). Eight Rademacher terms in a row are a group: their sum is rounded as
// ((±a0 ± a1) ± a2) ... ± a7 and added to dst[i] as one number. Sum forms groups from the first
// term on. So the caller must pass all terms of a step in one call: two calls would form other
// groups.
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

func sumGroup(dst []float32, terms *[groupLen]Term, block uint32) {
	var sums groupSums
	sums.set(terms)
	var s [groupLen]signs
	for ; len(dst) > 0; block++ {
		for j := range s {
			s[j].load(&terms[j].Z, block)
		}
		n := min(BlockLen, len(dst))
		sums.add(dst[:n], &s)
		dst = dst[n:]
	}
}
