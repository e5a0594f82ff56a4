package replica

import (
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// This file computes ZOFedHT's subspace: Algorithm 1, lines 5-11. The trail holds the last tau
// moves: the move of round i is column (i-1) mod tau. Every tau rounds the basis becomes
// QR([newest, ..., oldest]).

// hasBasis reports whether the replica has made the tau moves that a basis needs. Without a basis,
// directions have the covariance C = I.
func (r *Replica) hasBasis() bool {
	return len(r.basis) > 0 && r.rounds >= uint64(len(r.basis))
}

// updateBasis computes a new basis after every tau-th round.
func (r *Replica) updateBasis() {
	tau := len(r.trail)
	if r.rounds%uint64(tau) != 0 {
		return
	}
	r.flush()
	for j := range tau {
		r.columns[j] = r.trail[tau-1-j]
	}
	size := mathx.GramLen(tau)
	blocks := blocksOf(len(r.x), prng.BlockLen)
	if cap(r.grams) < blocks*size {
		r.grams = make([]float64, blocks*size)
	}
	r.grams = r.grams[:blocks*size]
	team := r.teamFor(r.plan.Dim * uint64(tau))
	team.Do(blocks, r.gramTask)
	sum := r.grams[:size]
	for i := 1; i < blocks; i++ {
		mathx.AddGram(sum, r.grams[i*size:(i+1)*size])
	}
	mathx.Cholesky(sum, sum)
	team.Do(blocks, r.basisTask)
}

func (r *Replica) gramBlock(_, i int) {
	size := mathx.GramLen(len(r.columns))
	var columns [plan.MaxSubspace][]float32
	mathx.Gram(r.grams[i*size:(i+1)*size], blocksAt(&columns, r.columns, i))
}

func (r *Replica) basisBlock(_, i int) {
	var from, to [plan.MaxSubspace][]float32
	mathx.Orthonormalize(blocksAt(&to, r.basis, i), blocksAt(&from, r.columns, i),
		r.grams[:mathx.GramLen(len(r.columns))])
}

// blocksAt returns block i of every vector, in the memory of dst.
func blocksAt(dst *[plan.MaxSubspace][]float32, vectors [][]float32, i int) [][]float32 {
	for j, v := range vectors {
		dst[j] = block(v, i*prng.BlockLen, prng.BlockLen)
	}
	return dst[:len(vectors)]
}

// blocksOf returns into how many parts of so many elements n elements divide.
func blocksOf(n, size int) int { return (n + size - 1) / size }
