package main

import (
	"context"
	"fmt"
	"math"

	"github.com/zofl/zofl/prng"
)

// signCounts counts Rademacher bits; bit 1 means a minus.
type signCounts struct {
	ones  [64]uint64  // by bit of the word
	bytes [256]uint64 // of eight elements in a row
	pairs uint64      // neighboring elements of the block that differ
	cross [8]uint64   // equal index at a neighboring place, differing; by entry of moves
}

func (c *signCounts) add(bits []byte) {
	var pattern byte
	for i, bit := range bits {
		c.ones[i%64] += uint64(bit)
		pattern = pattern<<1 | bit
		if i%8 == 7 {
			c.bytes[pattern]++
		}
	}
	c.pairs += differing(bits[1:], bits)
}

// differing counts the indices at which x and the start of y differ.
func differing(x, y []byte) uint64 {
	var n uint64
	for i, bit := range x {
		n += uint64(bit ^ y[i])
	}
	return n
}

// signs sets bits to the signs of the elements at p, with z as a buffer.
func (s sampling) signs(bits []byte, z []float32, p place) {
	s.fill(z, p, prng.Rademacher)
	for i, v := range z {
		bits[i] = byte(math.Float32bits(v) >> 31)
	}
}

// signBits reports the uniformity and independence of s.n/4 Rademacher elements.
func signBits(ctx context.Context, s sampling, r *report) error {
	type worker struct {
		z            [prng.BlockLen]float32
		bits, others [prng.BlockLen]byte
		signCounts
	}
	all := make([]worker, workers())
	blocks := s.n / 4 / prng.BlockLen
	err := sweep(ctx, "signs", blocks, func(w int, i uint64) {
		own := &all[w]
		s.signs(own.bits[:], own.z[:], placeOf(i))
		own.add(own.bits[:])
		for m := range own.cross {
			p := placeOf(i)
			moves[m].move(&p)
			s.signs(own.others[:], own.z[:], p)
			own.cross[m] += differing(own.bits[:], own.others[:])
		}
	})
	if err != nil {
		return err
	}
	var total signCounts
	for i := range all {
		total.merge(&all[i].signCounts)
	}
	total.report(float64(blocks), r)
	return nil
}

func (c *signCounts) merge(o *signCounts) {
	for i := range o.ones {
		c.ones[i] += o.ones[i]
	}
	for i := range o.bytes {
		c.bytes[i] += o.bytes[i]
	}
	for i := range o.cross {
		c.cross[i] += o.cross[i]
	}
	c.pairs += o.pairs
}

// coin prints how often n throws of a fair coin showed heads.
func (r *report) coin(name string, heads uint64, n float64) {
	share := float64(heads) / n
	r.score(name, share, (share-0.5)*2*math.Sqrt(n))
}

func (c *signCounts) report(blocks float64, r *report) {
	n := blocks * prng.BlockLen
	var ones uint64
	var x float64
	for _, count := range c.ones {
		ones += count
		x += (float64(count) - n/128) * (float64(count) - n/128) / (n / 256)
	}
	r.note("samples", n, "")
	r.coin("share of -1", ones, n)
	r.score("share of -1 by bit of the word, chi-squared", x, chiSquaredScore(x, 64))
	x = 0
	for _, count := range c.bytes {
		expected := n / 8 / 256
		x += (float64(count) - expected) * (float64(count) - expected) / expected
	}
	r.score("patterns of eight elements, chi-squared", x, chiSquaredScore(x, 255))
	r.coin("next element differs", c.pairs, blocks*(prng.BlockLen-1))
	for m := range c.cross {
		r.coin(fmt.Sprintf("%s: differs", moves[m].name), c.cross[m], n)
	}
}
