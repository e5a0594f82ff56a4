package train

import (
	"fmt"
	"math"
	"sync"

	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/papers/models"
)

// parts is the number of pieces into which gradient cuts a minibatch. Goroutines compute the
// gradients of the pieces, and gradient adds these in order, so that the sum does not depend on
// the number of goroutines.
const parts = 4

// A trainer is a training under way.
type trainer struct {
	m      models.Differentiable
	cfg    Config
	params []float32
	grads  [parts][]float32
	losses [parts]float64

	mean, square []float32 // Adam's m and v; Momentum's m in mean

	at, total int     // steps
	sum       float64 // of the losses since the last report
	since     int     // step of the last report
}

func newTrainer(m models.Differentiable, cfg Config) *trainer {
	t := &trainer{m: m, cfg: cfg, params: append([]float32(nil), cfg.Initial...)}
	for i := range t.grads {
		t.grads[i] = make([]float32, m.Dim())
	}
	t.mean = make([]float32, m.Dim())
	if cfg.Optimizer == Adam {
		t.square = make([]float32, m.Dim())
	}
	t.total = cfg.Epochs * ((m.Len() + cfg.Batch - 1) / cfg.Batch)
	return t
}

// step takes one minibatch and moves the parameters.
func (t *trainer) step(batch []int) error {
	loss := t.gradient(batch)
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return fmt.Errorf("train: the loss is %v at step %d of %d: take a smaller Step than %v",
			loss, t.at+1, t.total, t.cfg.Step)
	}
	t.at++
	t.sum += loss
	if t.cfg.Optimizer == Adam {
		t.adam(t.stepSize())
	} else {
		t.momentum(float32(t.stepSize()))
	}
	if t.at%t.cfg.EvalEvery == 0 || t.at == t.total {
		return t.report()
	}
	return nil
}

// stepSize returns the size of the current step: it grows to Step in the first WarmUp of the
// steps, then falls to 0.
func (t *trainer) stepSize() float64 {
	done := (float64(t.at) - 0.5) / float64(t.total)
	if done < t.cfg.WarmUp {
		return t.cfg.Step * done / t.cfg.WarmUp
	}
	return t.cfg.Step * (1 - done) / (1 - t.cfg.WarmUp)
}

// gradient computes the mean loss of a minibatch, and its gradient in grads[0].
func (t *trainer) gradient(batch []int) (loss float64) {
	var wg sync.WaitGroup
	workers := min(t.cfg.Goroutines, parts)
	for w := range workers {
		wg.Go(func() {
			for p := w; p < parts; p += workers {
				piece := batch[p*len(batch)/parts : (p+1)*len(batch)/parts]
				clear(t.grads[p])
				t.losses[p] = 0
				if len(piece) > 0 {
					t.losses[p] = t.m.Gradient(t.grads[p], t.params, piece)
				}
			}
		})
	}
	wg.Wait()
	var weights [parts]float32
	for p := range parts {
		n := (p+1)*len(batch)/parts - p*len(batch)/parts
		weight := float64(n) / float64(len(batch))
		loss += weight * t.losses[p]
		weights[p] = float32(weight)
	}
	first := t.grads[0]
	b, c, d := t.grads[1][:len(first)], t.grads[2][:len(first)], t.grads[3][:len(first)]
	for i, g := range first {
		first[i] = weights[0]*g + weights[1]*b[i] + weights[2]*c[i] + weights[3]*d[i]
	}
	return loss
}

// adam moves the parameters by algorithm 1 of Kingma and Ba (2015).
func (t *trainer) adam(step float64) {
	const beta1, beta2, eps = 0.9, 0.999, 1e-8
	fix1 := 1 - math.Pow(beta1, float64(t.at))
	fix2 := float32(1 / (1 - math.Pow(beta2, float64(t.at))))
	size := float32(step / fix1)
	for i, g := range t.grads[0] {
		m := beta1*t.mean[i] + (1-beta1)*g
		v := beta2*t.square[i] + (1-beta2)*g*g
		t.mean[i], t.square[i] = m, v
		t.params[i] -= size * m / (float32(math.Sqrt(float64(v*fix2))) + eps)
	}
}

// momentum moves the parameters as PyTorch's SGD does.
func (t *trainer) momentum(step float32) {
	beta := float32(t.cfg.Beta)
	for i, g := range t.grads[0] {
		t.mean[i] = beta*t.mean[i] + g
		t.params[i] -= step * t.mean[i]
	}
}

// report evaluates the model on Test, if there is a Test, and calls Progress.
func (t *trainer) report() error {
	p := Progress{Step: t.at, Steps: t.total, Loss: t.sum / float64(t.at-t.since)}
	t.sum, t.since = 0, t.at
	if t.cfg.Test != nil {
		p.TestLoss, p.Accuracy = softmax.Evaluate(t.cfg.Test, t.params, t.cfg.Goroutines)
	}
	if t.cfg.Progress != nil {
		if err := t.cfg.Progress(p); err != nil {
			return err
		}
	}
	if t.cfg.Target > 0 && p.Accuracy >= t.cfg.Target {
		return errTarget
	}
	return nil
}
