package models

import (
	"math"

	"gonum.org/v1/gonum/blas"

	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/plan"
)

// An MLP is a classifier of two classes with one hidden layer and sigmoids at both
// layers, as in ZOFedHT section IV: with s(z) = 1/(1 + exp(-z)),
//
//	p    = s(v . s(W x + b) + c)
//	loss = mean over the minibatch of  -log p if y is +1, -log(1-p) if y is -1
//
// The paper does not name its loss; an MLP uses the cross-entropy, in nats. The parameters are in
// PyTorch's order: W [hidden][features], b, v, c; 39,301 for MNIST and 50 hidden units. The MLP
// classifies a sample of class +1 correctly if p is above 1/2, and a sample of class -1 if p is
// below.
type MLP struct {
	*Samples
	hidden int
	shelf  Shelf[mlpWorkspace]
}

// An mlpWorkspace holds the intermediate results of one pass for a chunk of samples.
type mlpWorkspace struct {
	rows   []float32 // [sample][feature], dense samples only
	hidden []float32 // [sample][unit]
}

// NewMLP returns an MLP on s with the given number of hidden units; the paper has 50. NewMLP
// panics if hidden is less than 1.
func NewMLP(s *Samples, hidden int) *MLP {
	if hidden < 1 {
		panic("models: NewMLP without hidden units")
	}
	return &MLP{Samples: s, hidden: hidden}
}

// Dim returns the number of parameters: hidden*(Features+2) + 1.
func (m *MLP) Dim() int { return m.hidden*(m.features+2) + 1 }

// Segments returns the layers with PyTorch's default initialization: uniform in
// +-1/sqrt(fan_in). The paper does not name its own.
func (m *MLP) Segments() []plan.Segment {
	s := uniform(nil, "fc1", m.hidden*m.features, m.hidden, m.features)
	return uniform(s, "fc2", m.hidden, 1, m.hidden)
}

// Loss returns the mean cross-entropy over the samples named by batch. Loss allocates memory only
// when more goroutines call Loss at the same time than ever before.
func (m *MLP) Loss(params []float32, batch []int) float64 {
	loss, _ := softmax.Mean(m, params, batch)
	return loss
}

func (m *MLP) newWorkspace() *mlpWorkspace {
	ws := &mlpWorkspace{hidden: make([]float32, chunk*m.hidden)}
	if m.sparse == nil {
		ws.rows = make([]float32, chunk*m.features)
	}
	return ws
}

func (m *MLP) Sum(params []float32, batch []int) (loss float64, right int) {
	ws := m.shelf.Take(m.newWorkspace)
	defer m.shelf.Put(ws)
	out := params[m.hidden*(m.features+1):] // v, then c
	for len(batch) > 0 {
		n := min(len(batch), chunk)
		m.first(ws, params, batch[:n])
		for i, at := range batch[:n] {
			z := float64(out[m.hidden])
			for h, a := range ws.hidden[i*m.hidden : (i+1)*m.hidden] {
				z += float64(out[h]) / (1 + math.Exp(-float64(a)))
			}
			margin := m.sign[at] * z
			loss += logLoss(margin)
			if margin > 0 {
				right++
			}
		}
		batch = batch[n:]
	}
	return loss, right
}

// first computes W x + b for at most a chunk of samples.
func (m *MLP) first(ws *mlpWorkspace, params []float32, batch []int) {
	weights, bias := params[:m.hidden*m.features], params[m.hidden*m.features:][:m.hidden]
	if m.sparse != nil {
		for i, at := range batch {
			for h, b := range bias {
				z := m.dot(at, weights[h*m.features:(h+1)*m.features])
				ws.hidden[i*m.hidden+h] = float32(z + float64(b))
			}
		}
		return
	}
	for i, at := range batch {
		copy(ws.rows[i*m.features:(i+1)*m.features], m.row(at))
	}
	repeat(ws.hidden[:len(batch)*m.hidden], bias)
	sgemm(blas.NoTrans, blas.Trans, len(batch), m.hidden, m.features,
		ws.rows, m.features, weights, m.features, 1, ws.hidden, m.hidden)
}
