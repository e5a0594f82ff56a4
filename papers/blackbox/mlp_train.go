package blackbox

import (
	"math"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
)

// An mlp is the mean cross-entropy of the MLP over rows of a table, for training. Any
// number of goroutines may use it.
type mlp struct {
	rows   []float32 // [row][feature]
	labels []uint8
}

func (m *mlp) Dim() int                 { return mlpDim }
func (m *mlp) Len() int                 { return len(m.labels) }
func (m *mlp) Segments() []plan.Segment { return segments() }

// Loss is the mean cross-entropy, in nats.
func (m *mlp) Loss(params []float32, batch []int) float64 {
	loss, _ := m.Metrics(params, batch)
	return loss
}

func (m *mlp) Metrics(params []float32, batch []int) (loss, accuracy float64) {
	return m.pass(nil, params, batch)
}

// Evaluate uses one goroutine, whatever number is requested.
func (m *mlp) Evaluate(params []float32, _ int) (loss, accuracy float64) {
	all := make([]int, m.Len())
	for i := range all {
		all[i] = i
	}
	return m.Metrics(params, all)
}

// Gradient adds the gradient of the mean loss to grad.
func (m *mlp) Gradient(grad, params []float32, batch []int) (loss float64) {
	loss, _ = m.pass(grad, params, batch)
	return loss
}

// pass goes forward, and back unless grad is nil.
func (m *mlp) pass(grad, params []float32, batch []int) (loss, accuracy float64) {
	part := 1 / float64(len(batch))
	for len(batch) > 0 {
		n := min(len(batch), mlpChunk)
		a, d := newActivation(n), newActivation(n)
		input := a.layers[0]
		for i, at := range batch[:n] {
			for f, v := range m.rows[at*widths[0]:][:widths[0]] {
				input[f*n+i] = v
			}
		}
		a.forward(params, input)
		for i, at := range batch[:n] {
			l, right := a.crossEntropy(d, i, int(m.labels[at]), part)
			loss += float64(part * l)
			if right {
				accuracy += part
			}
		}
		if grad != nil {
			back(grad, params, a, d)
		}
		batch = batch[n:]
	}
	return loss, accuracy
}

// crossEntropy returns the loss of row i, and whether it is classified right; and writes
// the gradient by its logits, times part, to d.
func (a *activation) crossEntropy(d *activation, i, label int,
	part float64) (loss float64, right bool) {
	const last = len(widths) - 1
	var p [7]float64
	most := math.Inf(-1)
	for c := range p {
		p[c] = float64(a.layers[last][c*a.rows+i])
		most = max(most, p[c])
	}
	score, sum := p[label], 0.0
	for c, z := range p {
		p[c] = math.Exp(z - most)
		sum += p[c]
	}
	for c, e := range p {
		g := e / sum
		if c == label {
			g--
		}
		d.layers[last][c*a.rows+i] = float32(part * g)
	}
	return math.Log(sum) - (score - most), score == most
}

// back adds the gradient to grad, from that by the logits in d.
func back(grad, params []float32, a, d *activation) {
	offset := [len(widths)]int{}
	for l := 2; l < len(widths); l++ {
		offset[l] = offset[l-1] + widths[l-1]*(widths[l-2]+1)
	}
	for l := len(widths) - 1; l >= 1; l-- {
		weights, _, _ := layerOf(params[offset[l]:], l)
		gWeights, gBias, _ := layerOf(grad[offset[l]:], l)
		clear(d.layers[l-1])
		for o := range widths[l] {
			dOut := d.unit(l, o)
			for _, v := range dOut {
				gBias[o] += v
			}
			for i := range widths[l-1] {
				at := o*widths[l-1] + i
				gWeights[at] += float32(mathx.Dot(dOut, a.unit(l-1, i)))
				if l > 1 {
					mathx.Axpy(d.unit(l-1, i), weights[at], dOut)
				}
			}
		}
		if l > 1 {
			for i, v := range a.layers[l-1] {
				if v == 0 { // the rectifier was closed
					d.layers[l-1][i] = 0
				}
			}
		}
	}
}
