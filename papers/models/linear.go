package models

import (
	"math"

	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/plan"
)

// A Linear is a linear classifier of two classes: with x a sample, y its class +1
// or -1, and m = y*(w.x + b) its margin,
//
//	loss = mean over the minibatch of  log(1 + exp(-m))   logistic regression
//	                                   max(0, 1 - m)      support vector machine
//
// without regularization, because the papers name no regularization. The parameters are w, then b
// if there is a bias. A sample is classified right if m > 0.
type Linear struct {
	*Samples
	bias bool
	loss func(margin float64) float64
}

// NewLogistic returns logistic regression on s, in nats, with or without a bias. ZOFedHT section
// IV does not say whether its model has a bias; a model with Features parameters has no bias.
func NewLogistic(s *Samples, bias bool) *Linear { return &Linear{s, bias, logLoss} }

// NewSVM returns a linear support vector machine on s: the hinge loss, which has a
// kink.
func NewSVM(s *Samples, bias bool) *Linear { return &Linear{s, bias, hinge} }

// logLoss returns log(1 + exp(-m)), which for a large -m must not overflow.
func logLoss(m float64) float64 {
	return max(-m, 0) + math.Log1p(math.Exp(-math.Abs(m)))
}

func hinge(m float64) float64 { return max(0, 1-m) }

// Dim returns the number of parameters: Features, and one for the bias.
func (l *Linear) Dim() int {
	if l.bias {
		return l.features + 1
	}
	return l.features
}

// Segments returns the weights and the bias, zero at first: both losses are
// convex.
func (l *Linear) Segments() []plan.Segment {
	s := []plan.Segment{{Name: "weight", Len: uint64(l.features)}}
	if l.bias {
		s = append(s, plan.Segment{Name: "bias", Len: 1})
	}
	return s
}

// Loss returns the mean loss over the samples named by batch. Loss allocates nothing.
func (l *Linear) Loss(params []float32, batch []int) float64 {
	loss, _ := softmax.Mean(l, params, batch)
	return loss
}

func (l *Linear) Sum(params []float32, batch []int) (loss float64, right int) {
	for _, at := range batch {
		m := l.dot(at, params[:l.features])
		if l.bias {
			m += float64(params[l.features])
		}
		m *= l.sign[at]
		loss += l.loss(m)
		if m > 0 {
			right++
		}
	}
	return loss, right
}
