package data

import "math/rand/v2"

// batchStream is the second word of the generator's seed.
const batchStream = 0x6d696e6962617463

// A Batcher picks minibatches from a client's share of the samples. A minibatch depends on the
// share, the size and the seed alone. Earlier calls do not change it, and every machine picks the
// same minibatch. One goroutine at a time may use a Batcher.
type Batcher struct {
	share []int // as given, between calls
	batch []int // the result
	swaps []int // partners of the swaps of the call under way
	pcg   rand.PCG
	rng   *rand.Rand
}

// NewBatcher returns a Batcher of the samples whose indices are in share. NewBatcher copies share,
// and panics if share is empty.
func NewBatcher(share []int) *Batcher {
	if len(share) == 0 {
		panic("data: NewBatcher with an empty share")
	}
	b := &Batcher{share: append([]int(nil), share...)}
	b.rng = rand.New(&b.pcg)
	return b
}

// Pick returns the indices of size samples, drawn without replacement by a generator that is seeded
// with seed. Pick returns the whole share if size is 0 or at least the share's length. The caller
// must not change the result. The result is valid until the next call. Pick allocates memory only
// for a size larger than all earlier sizes. Pick panics if size is negative.
func (b *Batcher) Pick(size int, seed uint64) []int {
	if size < 0 {
		panic("data: Pick of a negative size")
	}
	if size == 0 || size >= len(b.share) {
		return b.share
	}
	b.pcg.Seed(seed, batchStream)
	b.batch, b.swaps = b.batch[:0], b.swaps[:0]
	// This loop makes the first size swaps of a Fisher-Yates shuffle. Pick undoes the swaps
	// afterwards, so that the next call begins with the same order.
	for i := range size {
		j := i + int(b.rng.Uint64N(uint64(len(b.share)-i)))
		b.share[i], b.share[j] = b.share[j], b.share[i]
		b.batch = append(b.batch, b.share[i])
		b.swaps = append(b.swaps, j)
	}
	for i := size - 1; i >= 0; i-- {
		j := b.swaps[i]
		b.share[i], b.share[j] = b.share[j], b.share[i]
	}
	return b.batch
}
