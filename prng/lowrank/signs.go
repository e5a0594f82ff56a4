package lowrank

import (
	"encoding/binary"
	"slices"

	"github.com/zofl/zofl/prng"
)

// groupLen is the number of directions that a group has.
const groupLen = 8

// padding is the number of bytes after the last signs of a group that a kernel may read.
const padding = 31

// Signs holds the factors of directions, in groups of eight: a byte for each factor and group. The
// zero value holds those of no direction. Its memory is used again.
//
// In a byte, bit k is the sign of direction 8*group+k, but the three low bits of each half are
// inverted where its highest bit is 1. The exclusive or of two such bytes is again such a byte, so
// row and column combine without more ado. And in this form half a byte is a place in a table of
// eight sums, and the sign with which that sum counts.
type Signs struct {
	bytes  []byte // the factors of each group, each followed by padding
	groups int
	stride int // from one group to the next
}

// Load sets s to the factors of directions z, in order. It ignores their domains and distributions.
func (l *Layout) Load(s *Signs, z []prng.Direction) {
	l.Reset(s, len(z))
	l.LoadBlocks(s, z, 0, l.Blocks())
}

// Reset makes room in s for n directions. Callers that load on several goroutines call Reset once,
// and then LoadBlocks for each part of the blocks.
func (l *Layout) Reset(s *Signs, n int) {
	s.groups = (n + groupLen - 1) / groupLen
	s.stride = l.factors + padding
	n = s.groups * s.stride
	s.bytes = slices.Grow(s.bytes[:0], n)[:n]
}

// LoadBlocks sets the part of s that blocks from to to-1 of the [Layout.Blocks] have.
func (l *Layout) LoadBlocks(s *Signs, z []prng.Direction, from, to int) {
	for g := range s.groups {
		part := z[g*groupLen : min((g+1)*groupLen, len(z))]
		dst := s.bytes[g*s.stride:][:l.factors]
		for i := from; i < to; i++ {
			loadGroup(dst, part, &l.blocks[i])
		}
	}
}

// loadGroup sets the factors that a block has of at most eight directions. The signs of missing
// directions are 0.
func loadGroup(dst []byte, z []prng.Direction, b *block) {
	var planes [groupLen]prng.Signs
	for k := range z {
		planes[k].Load(factorsOf(z[k]), b.index)
	}
	for _, r := range b.runs {
		place := r.from % wordLen
		for i, to := r.from/wordLen, dst[r.to:r.to+r.n]; len(to) > 0; i++ {
			var word [wordLen]byte
			transpose(&word, &planes, i)
			to = to[copy(to, word[place:]):]
			place = 0
		}
	}
}

// transpose sets dst to the bytes of the 64 factors that word i of each direction has.
func transpose(dst *[wordLen]byte, planes *[groupLen]prng.Signs, i int) {
	for k := range wordLen / 8 {
		var w uint64 // byte d has the signs of direction d for eight factors
		for d := range planes {
			w |= planes[d][i] >> (8 * k) & 0xff << (8 * d)
		}
		binary.LittleEndian.PutUint64(dst[8*k:], fold(turn(w)))
	}
}

// turn exchanges rows and columns of 8x8 bits: bit d of byte j becomes bit j of byte d.
func turn(w uint64) uint64 {
	t := (w ^ w>>7) & 0x00aa00aa00aa00aa
	w ^= t ^ t<<7
	t = (w ^ w>>14) & 0x0000cccc0000cccc
	w ^= t ^ t<<14
	t = (w ^ w>>28) & 0x00000000f0f0f0f0
	return w ^ t ^ t<<28
}

// fold inverts the three low bits of each half of a byte whose highest bit is 1.
func fold(w uint64) uint64 { return w ^ (w>>3&0x1111111111111111)*7 }
