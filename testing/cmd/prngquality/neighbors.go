package main

import (
	"context"
	"fmt"
	"math"

	"github.com/zofl/zofl/prng"
)

// place is a block of a direction of a record, before the record's key is derived.
type place struct {
	n                  uint64
	step, perturbation uint16
	source, block      uint32
}

// fill sets dst to the elements at p.
func (s sampling) fill(dst []float32, p place, dist prng.Distribution) {
	prng.Fill(dst, prng.Direction{
		Key: prng.RecordKey([]byte(s.key), p.n), Step: p.step, Perturbation: p.perturbation,
		Source: p.source, Dist: dist,
	}, p.block)
}

// placeOf spreads i over all coordinates, so that a test covers the whole range of each coordinate.
func placeOf(i uint64) place {
	return place{
		n: 1 + i/512, step: uint16(i % 4), perturbation: uint16(i / 4 % 8),
		source: uint32(i / 32 % 4), block: uint32(i / 128 % 4),
	}
}

// moves are the differences between a place and its neighbors.
var moves = []struct {
	name string
	move func(p *place)
}{
	{"next block", func(p *place) { p.block++ }},
	{"block + 2^20", func(p *place) { p.block += 1 << 20 }},
	{"next step", func(p *place) { p.step++ }},
	{"next perturbation", func(p *place) { p.perturbation++ }},
	{"perturbation + 2^15", func(p *place) { p.perturbation += 1 << 15 }},
	{"next slot", func(p *place) { p.source++ }},
	{"next record", func(p *place) { p.n++ }},
	{"step and perturbation exchanged", func(p *place) {
		p.step, p.perturbation = p.perturbation+9, p.step
	}},
}

// products is the sum of x*y and the sum of the products of the centered squares.
type products struct{ values, squares float64 }

func (s *products) add(x, y []float32) {
	var values, squares float64
	for i := range x {
		a, b := float64(x[i]), float64(y[i])
		values += a * b
		squares += (a*a - 1) * (b*b - 1)
	}
	s.values += values
	s.squares += squares
}

// neighbors reports the correlation of values and of squares between adjacent places, element by
// element, and between elements of one block at several lags. Each figure uses s.n/4 pairs.
func neighbors(ctx context.Context, s sampling, r *report) error {
	for _, m := range moves {
		if err := s.correlate(ctx, m.name, m.move, 0, r); err != nil {
			return err
		}
	}
	for _, lag := range []int{1, 2, 3, 15, 16, 17, 32} {
		name := fmt.Sprintf("lag %d in the block", lag)
		if err := s.correlate(ctx, name, func(*place) {}, lag, r); err != nil {
			return err
		}
	}
	return nil
}

func (s sampling) correlate(
	ctx context.Context, name string, move func(*place), lag int, r *report,
) error {
	type worker struct {
		x, y [prng.BlockLen]float32
		sums products
	}
	all := make([]worker, workers())
	blocks := s.n / 4 / prng.BlockLen
	err := sweep(ctx, name, blocks, func(w int, i uint64) {
		own := &all[w]
		p := placeOf(i)
		s.fill(own.x[:], p, prng.Normal)
		y := own.x[lag:]
		if lag == 0 {
			move(&p)
			s.fill(own.y[:], p, prng.Normal)
			y = own.y[:]
		}
		own.sums.add(own.x[:len(y)], y)
	})
	if err != nil {
		return err
	}
	var total products
	for i := range all {
		total.values += all[i].sums.values
		total.squares += all[i].sums.squares
	}
	n := float64(blocks) * float64(prng.BlockLen-lag)
	r.score(name+": values", total.values/n, total.values/math.Sqrt(n))
	r.score(name+": squares", total.squares/n/2, total.squares/math.Sqrt(n)/2)
	return nil
}
