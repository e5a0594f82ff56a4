package main

import (
	"testing"

	"github.com/zofl/zofl/prng"
)

func TestOutputsAreTheWordsOfTheKernels(t *testing.T) {
	const last = 3 * blocksPerDirection * perturbations * steps
	for i := uint64(0); i < last; i += 37 {
		z, block := sampling{key: defaultKey}.at(i)
		var got [outputsPerBlock]uint64
		outputs(&got, z, block)
		var want [prng.BlockLen]float32
		prng.Uniform(want[:], z, block)
		for i, u := range want {
			word := int32(got[i/2] >> (32 * (i % 2)))
			if v := float32(word) / (1 << 31); v != u {
				t.Fatalf("%+v, block %d, element %d: got %v, want %v", z, block, i, v, u)
			}
		}
	}
}

func TestRunVisitsEveryBlockOnce(t *testing.T) {
	type address struct {
		z     prng.Direction
		block uint32
	}
	seen := map[address]bool{}
	const n = 3 * blocksPerDirection * perturbations * steps
	for i := range uint64(n) {
		z, block := sampling{key: defaultKey}.at(i)
		seen[address{z, block}] = true
	}
	if len(seen) != n {
		t.Errorf("got %d places, want %d", len(seen), n)
	}
}
