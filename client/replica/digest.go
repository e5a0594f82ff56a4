package replica

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"hash"

	"github.com/zofl/zofl/client/replica/internal/digest"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// Digest returns the digest of the whole state. Digest reads only the state and Config.Workers, so
// a caller may run it while another goroutine calls Perturb or PerturbAll.
//
// The result is the package function [Digest] over the vectors in the order of docs/state.md. If
// the plan can have registers (numbers of the state that no vector holds), the hash covers the
// registers after the vectors. In a run with a private key the digest depends on the run key: who
// lacks the run key cannot compare a guessed state with the digest. While an object is missing, the
// digest matches no other replica's.
func (r *Replica) Digest() [32]byte {
	return r.seal(digest.Vectors(r.cfg.Workers, r.vectors()...))
}

// seal finishes a digest: seal adds the registers, if the plan has any, and in a private run
// returns HMAC-SHA256(run key, "zofl/1 digest\x00" + digest).
func (r *Replica) seal(root hash.Hash) [32]byte {
	if hasRegisters(&r.plan) {
		root.Write(digest.AppendWords(nil, r.registers()))
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

// Digest returns the digest of vectors of equal length d. The digest is the SHA-256 of "zofl/1
// state\x00", LE64(d), LE32(number of vectors) and then, for one vector after another, the SHA-256
// of each block of 4096 elements (the last may be shorter). An element is 4 bytes, little-endian;
// any NaN is 0x7fc00000.
func Digest(vectors ...[]float32) [32]byte {
	return [32]byte(digest.Vectors(1, vectors...).Sum(nil))
}

// InitialDigest returns the InitialDigest of a plan that starts from parameters x.
func InitialDigest(x []float32) plan.Bytes {
	d := Digest(x)
	return d[:]
}

// An InitialHash computes the [InitialDigest] of parameters that come in parts.
type InitialHash struct {
	root   hash.Hash
	block  []float32 // elements of the next block
	digits [4 * prng.BlockLen]byte
}

// NewInitialHash returns the hash of dim parameters.
func NewInitialHash(dim uint64) *InitialHash {
	return &InitialHash{root: digest.Root(dim, 1), block: make([]float32, 0, prng.BlockLen)}
}

// Add takes the next parameters.
func (h *InitialHash) Add(part []float32) {
	for len(part) > 0 {
		n := min(len(part), cap(h.block)-len(h.block))
		h.block, part = append(h.block, part[:n]...), part[n:]
		if len(h.block) == cap(h.block) {
			h.flush()
		}
	}
}

func (h *InitialHash) flush() {
	n := digest.PutBlock(h.digits[:], h.block)
	sum := sha256.Sum256(h.digits[:4*n])
	h.root.Write(sum[:])
	h.block = h.block[:0]
}

// Digest returns the digest after the last parameters.
func (h *InitialHash) Digest() plan.Bytes {
	if len(h.block) > 0 {
		h.flush()
	}
	return h.root.Sum(nil)
}

func checkGiven(p *plan.Plan, given []float32) error {
	if got := InitialDigest(given); !bytes.Equal(got, p.InitialDigest) {
		return fmt.Errorf("%w: digest %v, the plan names %v: load the file that the plan was made with",
			ErrInitial, got, p.InitialDigest)
	}
	return nil
}
