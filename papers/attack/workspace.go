package attack

import (
	"slices"

	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/mathx"
)

// A workspace holds the intermediate results of a pass of a [Net] for n images, and their
// gradients. Arrays are laid out as in [layer].
//
// Invariant: the borders of the inputs are 0.
type workspace struct {
	n               int
	input           []float32 // of the first layer
	wide1           []float32 // its output
	hidden          []float32 // input of the second layer
	wide2           []float32 // its output, rectified in place
	logits          []float32 // [class][image]
	dWide1, dHidden []float32
	dWide2, dLogits []float32
	column          []float64 // logits of one image
}

// take returns a workspace for n images that no other call uses.
func (m *Net) take(n int) *workspace {
	ws := m.spaces.Take(func() *workspace { return &workspace{} })
	if ws.n == n {
		return ws
	}
	ws.n = n
	ws.input, ws.hidden = zeros(ws.input, m.one.input(n)), zeros(ws.hidden, m.two.input(n))
	ws.wide1, ws.wide2 = zeros(ws.wide1, m.one.output(n)), zeros(ws.wide2, m.two.output(n))
	ws.logits = zeros(ws.logits, m.images.Classes*n)
	return ws
}

// zeros returns n zeros, in the memory of x if x is large enough.
func zeros(x []float32, n int) []float32 {
	x = slices.Grow(x[:0], n)[:n]
	clear(x)
	return x
}

// load writes the images of a batch as long as ws.n to the input.
func (m *Net) load(ws *workspace, batch []int) {
	for i, at := range batch {
		pixels := m.images.At(at)
		for y := range m.images.Rows {
			for x, p := range pixels[y*m.images.Cols:][:m.images.Cols] {
				ws.input[m.one.place(0, y, x, ws.n)+i] = float32(depth(p))
			}
		}
	}
}

// run computes the logits of the input, [class][image].
func (m *Net) run(ws *workspace, params []float32) []float32 {
	n := ws.n
	m.one.forward(ws.wide1, ws.input, params, n)
	m.two.rectify(ws.hidden, ws.wide1, n)
	m.two.forward(ws.wide2, ws.hidden, params, n)
	for i, v := range ws.wide2 {
		ws.wide2[i] = max(v, 0)
	}
	weights, bias := params[m.dense:], params[m.dim-m.images.Classes:m.dim]
	for c, b := range bias {
		out := ws.logits[c*n : (c+1)*n]
		fill(out, b)
		for f, w := range weights[c*m.features():][:m.features()] {
			mathx.Axpy(out, w, ws.wide2[f*n:(f+1)*n])
		}
	}
	return ws.logits
}

// Sum returns the sum of the cross-entropies over a minibatch, and the number of its images
// that are classified correctly.
func (m *Net) Sum(params []float32, batch []int) (loss float64, right int) {
	for part := range slices.Chunk(batch, chunk) {
		ws := m.take(len(part))
		m.load(ws, part)
		m.run(ws, params)
		for i, at := range part {
			l, ok := m.crossEntropy(ws, i, int(m.images.Labels[at]))
			loss += l
			if ok {
				right++
			}
		}
		m.spaces.Put(ws)
	}
	return loss, right
}

// crossEntropy returns the loss of image i, and whether it is classified right. crossEntropy
// copies the image's logits to ws.column.
func (m *Net) crossEntropy(ws *workspace, i, label int) (loss float64, right bool) {
	ws.column = ws.column[:0]
	for c := range m.images.Classes {
		ws.column = append(ws.column, float64(ws.logits[c*ws.n+i]))
	}
	return softmax.CrossEntropy(ws.column, label)
}
