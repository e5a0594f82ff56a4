package softmax

import (
	"math"
	"slices"
)

// CrossEntropy returns log(sum exp logits) - logits[label], in nats, and whether label has the
// largest logit. CrossEntropy subtracts the largest logit first, so that exp cannot overflow. If
// several logits are the largest, the lowest of their classes counts.
func CrossEntropy(logits []float64, label int) (loss float64, right bool) {
	top := 0
	for c, z := range logits {
		if z > logits[top] {
			top = c
		}
	}
	most := logits[top]
	var sum float64
	for _, z := range logits {
		sum += math.Exp(z - most)
	}
	return math.Log(sum) - (logits[label] - most), top == label
}

// Probabilities replaces logits by exp(logits) / sum exp(logits).
func Probabilities(logits []float64) {
	most, sum := slices.Max(logits), 0.0
	for c, z := range logits {
		logits[c] = math.Exp(z - most)
		sum += logits[c]
	}
	for c := range logits {
		logits[c] /= sum
	}
}

// Ink returns the input that a model gets for each byte of an image: (byte/255 - mean) / std. Ink
// panics if std is not positive.
func Ink(mean, std float64) (ink [256]float32) {
	if !(std > 0) {
		panic("softmax: a model of images needs a positive std")
	}
	for p := range ink {
		ink[p] = float32((float64(p)/255 - mean) / std)
	}
	return ink
}
