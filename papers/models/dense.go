package models

import (
	"gonum.org/v1/gonum/blas"

	"github.com/zofl/zofl/coordinator/zofl/softmax"
)

// A linear is a linear layer. The layer's parameters are the weights [out][in], then the biases.
type linear struct {
	in, out int
	weight  int // offset of the weights in the parameters
}

func (l *linear) bias() int { return l.weight + l.in*l.out }

// A dense is a sequence of linear layers with rectifiers between them.
type dense []linear

// outputs returns the number of logits.
func (d dense) outputs() int { return d[len(d)-1].out }

// values allocates the memory for the input of each layer and for the logits, for a chunk of
// inputs.
func (d dense) values() [][]float32 {
	var list [][]float32
	for _, l := range d {
		list = append(list, make([]float32, chunk*l.in))
	}
	return append(list, make([]float32, chunk*d.outputs()))
}

// forward evaluates the layers on the n inputs in values[0], and returns the logits.
func (d dense) forward(values [][]float32, params []float32, n int,
	rectify func(x []float32)) (logits []float32) {
	for k, l := range d {
		logits = values[k+1][:n*l.out]
		repeat(logits, params[l.bias():][:l.out])
		sgemm(blas.NoTrans, blas.Trans, n, l.out, l.in,
			values[k], l.in, params[l.weight:], l.in, 1, logits, l.out)
		if k+1 < len(d) {
			rectify(logits)
		}
	}
	return logits
}

// backward adds the gradient of the loss on n inputs with respect to the parameters to grad.
// back[k] receives the gradient with respect to values[k]; the caller gives the last of these,
// the gradient with respect to the logits. If back[0] is nil, backward does not compute the
// gradient with respect to the input.
func (d dense) backward(back, values [][]float32, grad, params []float32, n int) {
	for k := len(d) - 1; k >= 0; k-- {
		l, in, dOut := &d[k], values[k][:n*d[k].in], back[k+1][:n*d[k].out]
		sgemm(blas.Trans, blas.NoTrans, l.out, l.in, n, dOut, l.out, in, l.in,
			1, grad[l.weight:], l.in)
		addRows(grad[l.bias():][:l.out], dOut)
		if back[k] == nil {
			return
		}
		dIn := back[k][:n*l.in]
		sgemm(blas.NoTrans, blas.NoTrans, n, l.in, l.out, dOut, l.out, params[l.weight:], l.in,
			0, dIn, l.in)
		if k == 0 {
			return // no rectifier is before it
		}
		for i, v := range in {
			if v == 0 {
				dIn[i] = 0
			}
		}
	}
}

// crossEntropy returns the loss of one row of logits, and whether the label's logit is the
// largest. The function also copies the logits to wide.
func crossEntropy(wide []float64, logits []float32, label uint8) (loss float64, right bool) {
	for c := range wide {
		wide[c] = float64(logits[c])
	}
	return softmax.CrossEntropy(wide, int(label))
}

// backLogits sets dst to the gradient with respect to the logits that crossEntropy copied to
// wide: part*(softmax - onehot).
func backLogits(dst []float32, wide []float64, label uint8, part float64) {
	softmax.Probabilities(wide)
	for c, p := range wide {
		dst[c] = float32(part * p)
	}
	dst[label] -= float32(part)
}
