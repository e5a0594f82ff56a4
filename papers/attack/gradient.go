package attack

import (
	"slices"

	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/mathx"
)

// Gradient returns the mean cross-entropy over the images named by batch, and adds
// its gradient to grad, which is Dim long.
func (m *Net) Gradient(grad, params []float32, batch []int) (loss float64) {
	softmax.Check(m, params, batch)
	softmax.Check(m, grad, batch)
	for part := range slices.Chunk(batch, chunk) {
		ws := m.take(len(part))
		m.load(ws, part)
		m.run(ws, params)
		ws.dLogits = zeros(ws.dLogits, len(ws.logits))
		for i, at := range part {
			label := int(m.images.Labels[at])
			l, _ := m.crossEntropy(ws, i, label)
			loss += l
			softmax.Probabilities(ws.column)
			ws.column[label]--
			for c, v := range ws.column {
				ws.dLogits[c*ws.n+i] = float32(v / float64(len(batch)))
			}
		}
		m.back(ws, grad, params)
		m.spaces.Put(ws)
	}
	return loss / float64(len(batch))
}

// back propagates ws.dLogits to the parameters.
func (m *Net) back(ws *workspace, grad, params []float32) {
	n, features := ws.n, m.features()
	ws.dWide2, ws.dHidden = zeros(ws.dWide2, len(ws.wide2)), zeros(ws.dHidden, len(ws.hidden))
	ws.dWide1 = zeros(ws.dWide1, len(ws.wide1))
	for c := range m.images.Classes {
		d := ws.dLogits[c*n : (c+1)*n]
		grad[m.dim-m.images.Classes+c] += sum(d)
		weights := m.dense + c*features
		for f := range features {
			grad[weights+f] += dot(d, ws.wide2[f*n:(f+1)*n])
			mathx.Axpy(ws.dWide2[f*n:(f+1)*n], params[weights+f], d)
		}
	}
	pass(ws.dWide2, ws.dWide2, ws.wide2)
	m.two.backward(grad, ws.dHidden, ws.dWide2, ws.hidden, params, n)
	m.two.deactivate(ws.dWide1, ws.dHidden, ws.hidden, n)
	m.one.backward(grad, nil, ws.dWide1, ws.input, params, n)
}
