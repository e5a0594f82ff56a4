package models

import "github.com/zofl/zofl/coordinator/zofl/softmax"

// A netBackward holds the gradients of the loss with respect to the values of a [netWorkspace] of
// the same call.
type netBackward struct {
	netWorkspace
	back [][]float32 // none by the rows themselves
}

func (m *Net) newBackward() *netBackward {
	ws := &netBackward{netWorkspace: *m.newWorkspace(), back: m.layers.values()}
	ws.back[0] = nil
	return ws
}

// Gradient returns the mean cross-entropy over the rows named by batch, and adds its gradient to
// grad, which is Dim long. Like Loss, Gradient allocates nothing after the first calls, and
// panics where Loss panics.
func (m *Net) Gradient(grad, params []float32, batch []int) (loss float64) {
	softmax.Check(m, params, batch)
	softmax.Check(m, grad, batch)
	ws := m.gradients.Take(m.newBackward)
	defer m.gradients.Put(ws)
	part := 1 / float64(len(batch))
	for rest := batch; len(rest) > 0; {
		n := min(len(rest), chunk)
		m.load(&ws.netWorkspace, rest[:n])
		logits := m.layers.forward(ws.values, params, n, rectifyAll)
		for i, at := range rest[:n] {
			label, row := m.table.Labels[at], i*m.table.Classes
			one, _ := crossEntropy(ws.logits, logits[row:], label)
			loss += one
			backLogits(ws.back[len(m.layers)][row:], ws.logits, label, part)
		}
		m.layers.backward(ws.back, ws.values, grad, params, n)
		rest = rest[n:]
	}
	return loss * part
}
