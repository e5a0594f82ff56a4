package replica

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"

	"github.com/zofl/zofl/internal/parallel"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// These stand for every NaN, because the hardware chooses a NaN's payload.
const (
	canonicalNaN   = 0x7fc00000
	canonicalNaN64 = 0x7ff8000000000000
)

// bits32 returns the bits of v; for any NaN these are the canonical ones.
func bits32(v float32) uint32 {
	if v != v {
		return canonicalNaN
	}
	return math.Float32bits(v)
}

// bits64 is bits32 for a float64.
func bits64(v float64) uint64 {
	if v != v {
		return canonicalNaN64
	}
	return math.Float64bits(v)
}

// Digest returns the digest of the whole state. It reads only the state and Config.Workers,
// so it may run while another goroutine probes.
//
// It is the package function [Digest] of the vectors in the order of docs/state.md. If the plan
// can have registers, they are hashed after the vectors. In a run with a private key the
// digest is keyed, so that nobody without the run key can test a guess at the state. While
// an object is missing, the digest matches no other replica's.
func (r *Replica) Digest() [32]byte {
	return r.seal(hashVectors(r.cfg.Workers, r.vectors()...))
}

// seal finishes a digest: it adds the registers, if the plan has any, and in a private run
// returns HMAC-SHA256(run key, "zofl/1 digest\x00" + digest).
func (r *Replica) seal(root hash.Hash) [32]byte {
	if hasRegisters(&r.plan) {
		root.Write(appendRegisters(nil, r.registers()))
	}
	sum := root.Sum(nil)
	if r.plan.Private() {
		mac := hmac.New(sha256.New, r.runKey)
		mac.Write([]byte("zofl/1 digest\x00"))
		mac.Write(sum)
		sum = mac.Sum(nil)
	}
	return [32]byte(sum)
}

// Digest returns the digest of vectors of equal length d. It is the SHA-256 of "zofl/1
// state\x00", LE64(d), LE32(number of vectors) and then, for one vector after another, the
// SHA-256 of each block of 4096 elements (the last may be shorter). An element is 4 bytes,
// little-endian; any NaN is 0x7fc00000.
func Digest(vectors ...[]float32) [32]byte { return [32]byte(hashVectors(1, vectors...).Sum(nil)) }

func hashVectors(workers int, vectors ...[]float32) hash.Hash {
	dim, block := len(vectors[0]), 0
	for _, v := range vectors {
		block = max(block, min(len(v), prng.BlockLen))
	}
	h := newLeaves(min(workers, dim/leavesPerWorker/prng.BlockLen), block)
	root := digestRoot(uint64(dim), len(vectors))
	for _, v := range vectors {
		h.vector(root, v)
	}
	return root
}

// Leaves are hashed one row at a time. A worker needs a few leaves to be worth waking.
const (
	leavesPerRow    = 64
	leavesPerWorker = 8
)

// leaves hashes the blocks of a vector.
type leaves struct {
	team   *parallel.Team
	blocks [][]byte // one per worker
	row    [leavesPerRow][sumLen]byte
	v      []float32 // the rest of the vector, from this row on
}

// newLeaves returns a hash of vectors whose longest block has so many elements.
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
	n := putBlock(b, h.v[i*prng.BlockLen:])
	h.row[i] = sha256.Sum256(b[:4*n])
}

// digestRoot returns the hash that the block hashes are written to.
func digestRoot(dim uint64, vectors int) hash.Hash {
	root := sha256.New()
	head := binary.LittleEndian.AppendUint64([]byte("zofl/1 state\x00"), dim)
	root.Write(binary.LittleEndian.AppendUint32(head, uint32(vectors)))
	return root
}

// putBlock writes the first block of v, and returns its number of elements.
func putBlock(block []byte, v []float32) int {
	n := min(prng.BlockLen, len(v))
	for i, x := range v[:n] {
		binary.LittleEndian.PutUint32(block[4*i:], bits32(x))
	}
	return n
}

// InitialDigest returns the InitialDigest of a plan that starts from parameters x.
func InitialDigest(x []float32) wire.Bytes {
	d := Digest(x)
	return d[:]
}

func checkGiven(p *wire.Plan, given []float32) error {
	if uint64(len(given)) != p.Dim {
		return fmt.Errorf("%w: the plan's run starts from %d given parameters, this device gives %d",
			ErrInitial, p.Dim, len(given))
	}
	if got := InitialDigest(given); !bytes.Equal(got, p.InitialDigest) {
		return fmt.Errorf("%w: digest %v, the plan names %v: load the file that the plan was made with",
			ErrInitial, got, p.InitialDigest)
	}
	return nil
}
