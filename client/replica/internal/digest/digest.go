// Package digest hashes the vectors of a state, block by block.
package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"

	"github.com/zofl/zofl/internal/parallel"
	"github.com/zofl/zofl/prng"
)

// The digest uses one bit pattern for every NaN, because the payload of a NaN differs between CPUs.
const (
	NaN   = 0x7fc00000
	nan64 = 0x7ff8000000000000
)

// Bits returns the bits of v, or [NaN] for any NaN.
func Bits(v float32) uint32 {
	if v != v {
		return NaN
	}
	return math.Float32bits(v)
}

// Bits64 is [Bits] for a float64.
func Bits64(v float64) uint64 {
	if v != v {
		return nan64
	}
	return math.Float64bits(v)
}

// Root returns the hash to which the block hashes of this many vectors of dim elements are written.
// The hashed bytes begin with "zofl/1 state\x00", LE64(dim), LE32(vectors).
func Root(dim uint64, vectors int) hash.Hash {
	root := sha256.New()
	head := binary.LittleEndian.AppendUint64([]byte("zofl/1 state\x00"), dim)
	root.Write(binary.LittleEndian.AppendUint32(head, uint32(vectors)))
	return root
}

// PutBlock writes the first block of v, and returns its number of elements.
func PutBlock(block []byte, v []float32) int {
	n := min(prng.BlockLen, len(v))
	for i, x := range v[:n] {
		binary.LittleEndian.PutUint32(block[4*i:], Bits(x))
	}
	return n
}

// AppendWords appends LE32 of the number of words, and LE64 of each.
func AppendWords(b []byte, list []uint64) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(list)))
	for _, v := range list {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// Vectors returns the root hash after the blocks of all vectors, which have equal lengths.
func Vectors(workers int, vectors ...[]float32) hash.Hash {
	dim, block := len(vectors[0]), 0
	for _, v := range vectors {
		block = max(block, min(len(v), prng.BlockLen))
	}
	h := newLeaves(min(workers, dim/leavesPerWorker/prng.BlockLen), block)
	root := Root(uint64(dim), len(vectors))
	for _, v := range vectors {
		h.vector(root, v)
	}
	return root
}

// The workers hash one row of leavesPerRow leaves (block hashes) at a time. For fewer than
// leavesPerWorker leaves, waking a worker saves no time.
const (
	leavesPerRow    = 64
	leavesPerWorker = 8
)

// leaves hashes the blocks of vectors.
type leaves struct {
	team   *parallel.Team
	blocks [][]byte // one per worker
	row    [leavesPerRow][sha256.Size]byte
	v      []float32 // the rest of the vector, from this row on
}

// newLeaves returns leaves for vectors whose longest block has this many elements.
func newLeaves(workers, block int) *leaves {
	h := &leaves{team: parallel.New(workers)}
	h.blocks = make([][]byte, h.team.Workers())
	for i := range h.blocks {
		h.blocks[i] = make([]byte, 4*block)
	}
	return h
}

// vector writes the hashes of the blocks of v to root.
func (h *leaves) vector(root hash.Hash, v []float32) {
	for h.v = v; len(h.v) > 0; h.v = h.v[min(len(h.v), leavesPerRow*prng.BlockLen):] {
		n := min(leavesPerRow, (len(h.v)+prng.BlockLen-1)/prng.BlockLen)
		h.team.Do(n, h.leaf)
		for i := range h.row[:n] {
			root.Write(h.row[i][:])
		}
	}
}

func (h *leaves) leaf(worker, i int) {
	b := h.blocks[worker]
	n := PutBlock(b, h.v[i*prng.BlockLen:])
	h.row[i] = sha256.Sum256(b[:4*n])
}
