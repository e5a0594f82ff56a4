package main

import (
	"context"
	"fmt"
	"math"

	"github.com/zofl/zofl/prng"
)

const lineBytes = 64

// cache models a level-1 data cache with true least-recently-used replacement.
type cache struct {
	ways   int
	sets   [][]uint64 // line numbers, last used first
	misses int
}

func newCache(size, ways int) *cache {
	return &cache{ways: ways, sets: make([][]uint64, size/lineBytes/ways)}
}

func (c *cache) touch(address uint64) {
	line := address / lineBytes
	set := &c.sets[line%uint64(len(c.sets))]
	at := len(*set)
	for i, l := range *set {
		if l == line {
			at = i
		}
	}
	if at == len(*set) {
		c.misses++
		if at < c.ways {
			*set = append(*set, 0)
		} else {
			at--
		}
	}
	copy((*set)[1:at+1], (*set)[:at])
	(*set)[0] = line
}

// axpy accesses the same memory as the kernel for x += a*z, in the kernel's order: chunks of 64
// rows, with eight passes each. The tables of c1 and c0 lie half a cache way apart. The top bits of
// f index both tables.
func (c *cache) axpy(words []uint32, segmentBits int, x uint64) {
	const rows, perRow = 64, 2 * lanes
	c1 := uint64(1) << 32
	c0 := c1 + 4<<(9+segmentBits) + 2048
	for i := 0; i < len(words); i++ {
		chunk, lane, row, half := i/(rows*perRow), i/(rows*2)%lanes, i/2%rows, i%2
		k := uint64(math.Float32bits(float32(int32(words[i]|1))) >> (23 - segmentBits))
		c.touch(c1 + 4*k)
		c.touch(c0 + 4*k)
		c.touch(x + 4*uint64((chunk*rows+row)*perRow+2*lane+half))
	}
}

// caches reports the cache misses per element of x += a*z, by the number of segments per octave.
func caches(ctx context.Context, s sampling, r *report) error {
	r.note("one pass over x", 4.0/lineBytes, "misses an element, at the least")
	for _, l1 := range []struct{ size, ways int }{{16384, 4}, {32768, 4}, {32768, 8}} {
		for _, segmentBits := range []int{5, 6, 7} {
			c := newCache(l1.size, l1.ways)
			var block [outputsPerBlock]uint64
			words := make([]uint32, 0, prng.BlockLen)
			const blocks = 256
			for i := uint64(0); i < blocks && ctx.Err() == nil; i++ {
				z, b := s.at(i)
				outputs(&block, z, b)
				words = words[:0]
				for _, v := range block {
					words = append(words, uint32(v), uint32(v>>32))
				}
				c.axpy(words, segmentBits, i*4*prng.BlockLen)
			}
			name := fmt.Sprintf("%d segments, %d KiB, %d ways", 1<<segmentBits, l1.size>>10, l1.ways)
			r.note(name, float64(c.misses)/(blocks*prng.BlockLen), "misses an element")
		}
	}
	return ctx.Err()
}
