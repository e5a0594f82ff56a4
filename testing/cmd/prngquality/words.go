package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"math/bits"

	"github.com/zofl/zofl/prng"
)

// The sample has the order in which a run uses elements: the blocks of a direction, then the
// perturbations, the steps and the records.
const (
	blocksPerDirection = 16
	perturbations      = 10
	steps              = 2
)

// sampling says which elements to measure: n elements of the run with a key.
type sampling struct {
	key string
	n   uint64
}

const defaultKey = "prngquality"

// at returns the direction and the block at position i of the run's order.
func (s sampling) at(i uint64) (z prng.Direction, block uint32) {
	block = uint32(i % blocksPerDirection)
	i /= blocksPerDirection
	z = prng.Direction{Dist: prng.Normal, Perturbation: uint16(i % perturbations)}
	i /= perturbations
	z.Step = uint16(i % steps)
	z.Key = prng.RecordKey([]byte(s.key), 1+i/steps)
	return z, block
}

const (
	lanes           = 8
	outputsPerBlock = prng.BlockLen / 2
)

// outputs sets dst to the 64-bit outputs of a block of z, row by row, eight lanes a row. The halves
// of the outputs, low first, are the words of elements 0, 1, 2, ... We wrote outputs from
// docs/prng.md; outputs shares only Philox with the kernels.
func outputs(dst *[outputsPerBlock]uint64, z prng.Direction, block uint32) {
	position := uint32(z.Step)<<16 | uint32(z.Perturbation)
	for lane := range uint32(lanes) {
		w := prng.Philox([4]uint32{8*block + lane, position, z.Source, uint32(z.Domain)}, z.Key)
		s0, s1 := uint64(w[0])|uint64(w[1])<<32, uint64(w[2])|uint64(w[3])<<32
		for i := lane; i < outputsPerBlock; i += lanes {
			dst[i] = bits.RotateLeft64(s0+s1, 17) + s0
			s1 ^= s0
			s0 = bits.RotateLeft64(s0, 49) ^ s1 ^ s1<<21
			s1 = bits.RotateLeft64(s1, 28)
		}
	}
}

// stream writes the words of the run to w, little-endian, until ctx ends or w fails.
func (s sampling) stream(ctx context.Context, w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<18)
	var block [outputsPerBlock]uint64
	raw := make([]byte, 0, 8*outputsPerBlock)
	for i := uint64(0); ctx.Err() == nil; i++ {
		z, b := s.at(i)
		outputs(&block, z, b)
		raw = raw[:0]
		for _, v := range block {
			raw = binary.LittleEndian.AppendUint64(raw, v)
		}
		if _, err := out.Write(raw); err != nil {
			return err
		}
	}
	return out.Flush()
}
