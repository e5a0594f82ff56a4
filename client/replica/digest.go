package replica

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"

	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// canonicalNaN stands for every NaN, whose payload is the hardware's choice.
const canonicalNaN = 0x7fc00000

// Digest returns the digest of the whole state, every vector of it.
func (r *Replica) Digest() [32]byte {
	return Digest(r.vectors()...)
}

// Digest returns the digest of vectors of one length d: SHA-256 of
// "zofl/1 state\x00", LE64(d), LE32(number of vectors), then, vector after
// vector, the SHA-256 of each block of 4096 elements (the last may be
// shorter), an element being its 4 bytes little-endian, any NaN 0x7fc00000.
func Digest(vectors ...[]float32) [32]byte {
	root := digestRoot(uint64(len(vectors[0])), len(vectors))
	var block [4 * prng.BlockLen]byte
	for _, v := range vectors {
		digestVector(root, v, block[:])
	}
	return [32]byte(root.Sum(nil))
}

// digestRoot returns the hash that takes the hashes of the blocks.
func digestRoot(dim uint64, vectors int) hash.Hash {
	root := sha256.New()
	head := binary.LittleEndian.AppendUint64([]byte("zofl/1 state\x00"), dim)
	root.Write(binary.LittleEndian.AppendUint32(head, uint32(vectors)))
	return root
}

func digestVector(root hash.Hash, v []float32, block []byte) {
	var leaf [sumLen]byte
	for len(v) > 0 {
		n := putBlock(block, v)
		leaf = sha256.Sum256(block[:4*n])
		root.Write(leaf[:])
		v = v[n:]
	}
}

// putBlock writes the elements of v that make a block, and returns how many.
func putBlock(block []byte, v []float32) int {
	n := min(prng.BlockLen, len(v))
	for i, x := range v[:n] {
		bits := math.Float32bits(x)
		if x != x {
			bits = canonicalNaN
		}
		binary.LittleEndian.PutUint32(block[4*i:], bits)
	}
	return n
}

// InitialDigest returns what a plan's InitialDigest must be for parameters x.
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
