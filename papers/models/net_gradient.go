package models

import (
	"gonum.org/v1/gonum/blas"

	"github.com/zofl/zofl/coordinator/zofl/softmax"
)

// A netBackward holds the gradients of the loss with respect to the content of a [netWorkspace] of
// the same call.
type netBackward struct {
	netWorkspace
	back [][]float32 // of each layer's outputs, for a chunk
}

func (m *Net) newBackward() *netBackward {
	ws := &netBackward{netWorkspace: *m.newWorkspace()}
	for _, l := range m.layers {
		ws.back = append(ws.back, make([]float32, chunk*l.out))
	}
	return ws
}

// Gradient returns the mean cross-entropy over the rows named by batch, and adds its gradient
// to grad, which is Dim long. Like Loss it allocates nothing once it is warm, and panics where
// Loss does.
func (m *Net) Gradient(grad, params []float32, batch []int) (loss float64) {
	softmax.Check(m, params, batch)
	softmax.Check(m, grad, batch)
	ws := m.gradients.Take(m.newBackward)
	defer m.gradients.Put(ws)
	part := 1 / float64(len(batch))
	for rest := batch; len(rest) > 0; {
		n := min(len(rest), chunk)
		m.load(&ws.netWorkspace, rest[:n])
		m.run(&ws.netWorkspace, params, n)
		for i, at := range rest[:n] {
			label := int(m.table.Labels[at])
			one, _ := m.crossEntropy(&ws.netWorkspace, i, label)
			loss += one
			softmax.Probabilities(ws.logits)
			out := ws.back[len(m.layers)-1][i*len(ws.logits):]
			for c, p := range ws.logits {
				out[c] = float32(part * p)
			}
			out[label] -= float32(part)
		}
		m.back(ws, grad, params, n)
		rest = rest[n:]
	}
	return loss * part
}

// back adds the gradient of the n rows of a chunk, layer by layer from the last.
func (m *Net) back(ws *netBackward, grad, params []float32, n int) {
	for k := len(m.layers) - 1; k >= 0; k-- {
		l, in, out := &m.layers[k], ws.values[k][:n*m.layers[k].in], ws.back[k][:n*m.layers[k].out]
		sgemm(blas.Trans, blas.NoTrans, l.out, l.in, n, out, l.out, in, l.in,
			1, grad[l.weight:], l.in)
		addRows(grad[l.bias():][:l.out], out)
		if k == 0 {
			return
		}
		before := ws.back[k-1][:n*l.in]
		sgemm(blas.NoTrans, blas.NoTrans, n, l.in, l.out, out, l.out, params[l.weight:], l.in,
			0, before, l.in)
		for i, v := range in {
			if v == 0 { // behind a rectifier
				before[i] = 0
			}
		}
	}
}
