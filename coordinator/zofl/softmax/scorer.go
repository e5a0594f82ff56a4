package softmax

import "sync"

// A Scorer is a model that sums its losses over samples. [Mean] and [Evaluate] turn the sums of any
// Scorer into means.
type Scorer interface {
	// Dim returns the number of parameters.
	Dim() int
	// Len returns the number of samples.
	Len() int
	// Sum returns the sum of the losses over the samples named by batch, and how many of these samples
	// the model classifies correctly. Any number of goroutines may call Sum.
	Sum(params []float32, batch []int) (loss float64, right int)
}

// Mean returns the mean loss over the samples named by batch, and the fraction of them that the
// model classifies correctly. Mean panics as [Check] does.
func Mean(m Scorer, params []float32, batch []int) (loss, accuracy float64) {
	Check(m, params, batch)
	loss, right := m.Sum(params, batch)
	n := float64(len(batch))
	return loss / n, float64(right) / n
}

// Check panics if params does not have Dim elements or batch is empty.
func Check(m Scorer, params []float32, batch []int) {
	if len(params) != m.Dim() {
		panic("softmax: the parameters have another dimension than the model")
	}
	if len(batch) == 0 {
		panic("softmax: empty minibatch")
	}
}

// Evaluate returns the mean loss and accuracy over all samples, computed by the given number of
// goroutines, at least one. Evaluate adds the sums over spans of samples in order, so the result
// does not depend on the number of goroutines.
func Evaluate(m Scorer, params []float32, goroutines int) (loss, accuracy float64) {
	const span = 256 // samples a partial sum
	type part struct {
		loss  float64
		right int
	}
	parts := make([]part, (m.Len()+span-1)/span)
	var wg sync.WaitGroup
	workers := max(goroutines, 1)
	for w := range workers {
		wg.Go(func() {
			batch := make([]int, span)
			for p := w; p < len(parts); p += workers {
				n := min(span, m.Len()-p*span)
				for i := range n {
					batch[i] = p*span + i
				}
				Check(m, params, batch[:n])
				parts[p].loss, parts[p].right = m.Sum(params, batch[:n])
			}
		})
	}
	wg.Wait()
	right := 0
	for _, p := range parts {
		loss += p.loss
		right += p.right
	}
	n := float64(m.Len())
	return loss / n, float64(right) / n
}
