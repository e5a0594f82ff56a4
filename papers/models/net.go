package models

import (
	"fmt"

	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/papers/tables"
	"github.com/zofl/zofl/plan"
)

// A Net classifies the rows of a table by dense layers with rectifiers between them; a Net
// without a hidden layer is softmax regression. With x a row and y its label,
//
//	h = relu(W1 x + b1), ... ; logits = W h + b
//	loss = mean over the minibatch of  log(sum exp logits) - logits[y]
//
// in nats. The parameters are in PyTorch's order: of each layer W, [out][in], then b. The class
// of a row is the index of the largest logit.
type Net struct {
	table  *tables.Table
	layers dense
	dim    int
	shelf  Shelf[netWorkspace]

	gradients Shelf[netBackward]
}

// A netWorkspace holds the rows of a chunk, then the outputs of each layer.
type netWorkspace struct {
	values [][]float32
	logits []float64
}

// NewNet returns a net on the table t with hidden layers of these sizes. The net keeps t. NewNet
// panics if a size is not positive.
func NewNet(t *tables.Table, hidden ...int) *Net {
	m := &Net{table: t}
	in := t.Features
	for _, out := range append(append([]int(nil), hidden...), t.Classes) {
		if out < 1 {
			panic("models: NewNet with an empty layer")
		}
		l := linear{in: in, out: out, weight: m.dim}
		m.layers, m.dim, in = append(m.layers, l), l.bias()+out, out
	}
	return m
}

// Dim returns the number of parameters.
func (m *Net) Dim() int { return m.dim }

// Len returns the number of rows.
func (m *Net) Len() int { return m.table.Len() }

// Segments returns the layers: softmax regression begins at zero, others with PyTorch's
// default initialization, uniform in +-1/sqrt(fan_in).
func (m *Net) Segments() (list []plan.Segment) {
	if len(m.layers) == 1 {
		return []plan.Segment{{Name: "fc1.weight", Len: uint64(m.layers[0].bias())},
			{Name: "fc1.bias", Len: uint64(m.layers[0].out)}}
	}
	for i, l := range m.layers {
		list = uniform(list, fmt.Sprint("fc", i+1), l.in*l.out, l.out, l.in)
	}
	return list
}

// Loss returns the mean cross-entropy over the rows named by batch. Loss allocates memory only
// when more goroutines call Loss at the same time than ever before.
func (m *Net) Loss(params []float32, batch []int) float64 {
	loss, _ := softmax.Mean(m, params, batch)
	return loss
}

func (m *Net) newWorkspace() *netWorkspace {
	return &netWorkspace{values: m.layers.values(), logits: make([]float64, m.table.Classes)}
}

// Sum implements [softmax.Scorer].
func (m *Net) Sum(params []float32, batch []int) (loss float64, right int) {
	ws := m.shelf.Take(m.newWorkspace)
	defer m.shelf.Put(ws)
	for len(batch) > 0 {
		n := min(len(batch), chunk)
		m.load(ws, batch[:n])
		logits := m.layers.forward(ws.values, params, n, rectifyAll)
		for i, at := range batch[:n] {
			one, ok := crossEntropy(ws.logits, logits[i*m.table.Classes:], m.table.Labels[at])
			loss += one
			if ok {
				right++
			}
		}
		batch = batch[n:]
	}
	return loss, right
}

// load copies the rows named by batch to the workspace.
func (m *Net) load(ws *netWorkspace, batch []int) {
	for i, at := range batch {
		copy(ws.values[0][i*m.table.Features:], m.table.At(at))
	}
}

// rectifyAll computes max(x[i], 0). A NaN stays a NaN.
func rectifyAll(x []float32) {
	for i, v := range x {
		if v < 0 {
			x[i] = 0
		}
	}
}
