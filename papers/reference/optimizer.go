package reference

import "math"

// An Optimizer makes a client's steps within a round. A client resets its Optimizer in each
// round. The zero Optimizer is plain SGD.
type Optimizer struct {
	Kind        Kind
	Beta, Beta2 float64
	Epsilon     float64 // Adam's epsilon, added to the root

	t    int
	m, v []float64
}

// Kind is the kind of an optimizer.
type Kind int

const (
	GradientDescent Kind = iota
	HeavyBall            // DeComFL (8)-(9): m = beta m + (1-beta) g
	TorchHeavyBall       // omits the factor (1-beta)
	AdamKingma           // Adam, algorithm 1 of Kingma and Ba
	SignDescent          // ZO-SignSGD (Liu et al. 2019): the sign of g
)

// Begin starts a new round.
func (o *Optimizer) Begin(dim int) {
	o.t, o.m, o.v = 0, make([]float64, dim), make([]float64, dim)
}

// Step takes the next gradient, and returns the vector that the client multiplies by the step
// size and subtracts from x.
func (o *Optimizer) Step(g []float64) []float64 {
	o.t++
	out := clone(g)
	for i := range g {
		switch o.Kind {
		case HeavyBall, TorchHeavyBall:
			gain := 1.0
			if o.Kind == HeavyBall {
				gain = 1 - o.Beta
			}
			o.m[i] = o.Beta*o.m[i] + gain*g[i]
			out[i] = o.m[i]
		case SignDescent:
			out[i] = sign(g[i])
		case AdamKingma:
			o.m[i] = o.Beta*o.m[i] + (1-o.Beta)*g[i]
			o.v[i] = o.Beta2*o.v[i] + (1-o.Beta2)*g[i]*g[i]
			first := o.m[i] / (1 - math.Pow(o.Beta, float64(o.t)))
			second := o.v[i] / (1 - math.Pow(o.Beta2, float64(o.t)))
			out[i] = first / (math.Sqrt(second) + o.Epsilon)
		}
	}
	return out
}

// A Domain is the box in which x must stay: [0, 1]^d for FZooS. A nil Domain has no bounds.
type Domain struct{ Low, High []float64 }

// Unit returns [0, 1]^d.
func Unit(dim int) *Domain {
	d := &Domain{make([]float64, dim), make([]float64, dim)}
	for i := range dim {
		d.High[i] = 1
	}
	return d
}

// Project returns the point of the domain that is nearest to x.
func (d *Domain) Project(x []float64) []float64 {
	out := clone(x)
	if d != nil {
		for i := range out {
			out[i] = min(max(out[i], d.Low[i]), d.High[i])
		}
	}
	return out
}

// within returns b with a loss that is evaluated at the point of d nearest to x, so never outside
// d.
func (b Problem) within(d *Domain) Problem {
	loss := b.Loss
	b.Loss = func(client int, at At, x []float64) float64 { return loss(client, at, d.Project(x)) }
	return b
}
