package tables

import (
	"math"
	"math/rand/v2"
	"slices"
)

// These constants give the samples of [Planted] the shape of a collection of news texts such as
// RCV1, where a feature is a word.
const (
	plantedFeatures = 20000
	plantedEntries  = 40   // of a sample, 0.2 % of the features
	plantedPart     = 0.05 // of the features that tell something of the class
	plantedMargin   = 0.3  // of every sample: texts are about something
	plantedNoise    = 0.05 // of the labels, which are flipped
	plantedStream   = 0x706c616e746564
)

// Planted draws n samples of two classes with 20,000 features, of which 40 in a sample are not 0:
// a replacement for RCV1, which this repository cannot contain. Features with low indices are
// more frequent, as words are (the first is in about one sample of four); values are positive,
// and a sample has unit length. One feature of twenty has a weight. A label is the sign of the
// sample's inner product with these weights, whose absolute value is at least 0.3; then Planted
// flips 5 % of the labels. So no classifier is right on more than about 95 % of the samples, and
// a linear classifier needs many samples to come near 95 %.
//
// The weights are a function of seed, and sample i is a function of seed and i alone: to make a
// test set, use [Sparse.Split].
func Planted(n int, seed uint64) *Sparse {
	weights := plantedWeights(seed)
	s := &Sparse{
		Features: plantedFeatures,
		Start:    make([]int, 1, n+1),
		Index:    make([]int32, 0, n*plantedEntries),
		Value:    make([]float32, 0, n*plantedEntries),
		Labels:   make([]uint8, n),
	}
	var pcg rand.PCG
	rng := rand.New(&pcg)
	for i := range n {
		pcg.Seed(seed, plantedStream+1+uint64(i))
		margin := s.plant(rng, weights)
		for math.Abs(margin) < plantedMargin {
			s.Start = s.Start[:i+1]
			s.Index, s.Value = s.Index[:s.Start[i]], s.Value[:s.Start[i]]
			margin = s.plant(rng, weights)
		}
		if margin > 0 != (rng.Float64() < plantedNoise) {
			s.Labels[i] = 1
		}
	}
	return s
}

// plantedWeights draws the weights: a few have an absolute value from 0.5 to 1.5 and a random
// sign, the others are 0.
func plantedWeights(seed uint64) []float32 {
	rng := rand.New(rand.NewPCG(seed, plantedStream))
	weights := make([]float32, plantedFeatures)
	for i := range weights {
		if rng.Float64() >= plantedPart {
			continue
		}
		weights[i] = 0.5 + rng.Float32()
		if rng.Uint64()&1 == 0 {
			weights[i] = -weights[i]
		}
	}
	return weights
}

// plant appends the features of a sample, and returns its inner product with the
// weights.
func (s *Sparse) plant(rng *rand.Rand, weights []float32) (margin float64) {
	from := len(s.Index)
	for len(s.Index) < from+plantedEntries {
		u := rng.Float64()
		// The square makes low indices frequent.
		at := int32(float64(u*u) * plantedFeatures)
		if !slices.Contains(s.Index[from:], at) {
			s.Index = append(s.Index, at)
		}
	}
	slices.Sort(s.Index[from:])
	var square float64
	for range plantedEntries {
		v := 0.5 + rng.Float64()
		s.Value = append(s.Value, float32(v))
		square += float64(v * v)
	}
	scale := float32(1 / math.Sqrt(square))
	for i := from; i < len(s.Value); i++ {
		s.Value[i] *= scale
		margin += float64(float64(weights[s.Index[i]]) * float64(s.Value[i]))
	}
	s.Start = append(s.Start, len(s.Index))
	return margin
}
