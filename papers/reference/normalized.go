package reference

import "math"

// Normalized is a server rule that takes the mean estimate g of a round, with decoupled decay.
// The rule is Adam with one number for all elements in place of the second moments: the moving
// mean of u, an estimate of a client's |gradient|^2.
//
//	m = beta1 m + (1-beta1) g,  V = beta2 V + (1-beta2) u
//	x = (1 - decay a) x - a (m/(1-beta1^n)) / sqrt(V/(1-beta2^n))
type Normalized struct {
	Beta1, Beta2, Decay float64

	n int
	m []float64
	v float64
}

// Step returns x after the next round, with step size a. scale holds a factor on a for each
// element; nil: 1.
func (r *Normalized) Step(x, g []float64, u, a float64, scale []float64) []float64 {
	r.n++
	if r.m == nil {
		r.m = make([]float64, len(x))
	}
	r.v = r.Beta2*r.v + (1-r.Beta2)*u
	root := math.Sqrt(r.v / (1 - math.Pow(r.Beta2, float64(r.n))))
	move := make([]float64, len(x))
	for i := range x {
		r.m[i] = r.Beta1*r.m[i] + (1-r.Beta1)*g[i]
		move[i] = a * (r.Decay*x[i] + r.m[i]/(1-math.Pow(r.Beta1, float64(r.n)))/root)
	}
	return along(x, -1, scaled(move, scale))
}

// normalized makes a round of the rule. The rule uses each client's scalars if the coordinator
// relays them, otherwise the aggregated scalars.
func (f *Fleet) normalized(s *State, r *Round) []float64 {
	at, v, u := At{r.N, 0}, make([]float64, f.Dim), 0.0
	count := func(client int, g []float64, weight float64) {
		add(v, weight, f.estimate(s, client, at, g))
		u += weight * f.Gain * dot(g, g) / float64(len(g))
	}
	var scalars [][][]float64
	for j, client := range r.Clients {
		g, _ := f.local(s, r, client, make([]float64, f.Dim))
		if f.Clip > 0 {
			g = f.shorten(g)
		}
		if scalars = append(scalars, g); f.Relayed {
			count(client, g[0], r.weight(j))
		}
	}
	if !f.Relayed {
		count(r.Clients[0], f.aggregate(r, scalars)[0], 1)
	}
	return s.Normalized.Step(s.X, v, u, r.Eta, f.StepScale)
}
