package reference

// DeComFL is Algorithms 3 and 4 of the DeComFL paper, with the momentum of the paper's equations
// (8) and (9), or with PyTorch's momentum. Algorithms 1 and 2 are the case P = 1.
type DeComFL struct {
	Problem
	K, P    int
	Mu, Eta float64
	Central bool // (f(x + mu z) - f(x - mu z)) / (2 mu) instead of (3)
	// Beta is the momentum factor; 0 is plain SGD. If Torch is set, the momentum omits the factor (1
	// - beta) of (8), like PyTorch's.
	Beta  float64
	Torch bool
	Decay float64 // weight decay, added to the gradient estimate
	// Gradient, unless nil, is the gradient of Loss. With Gradient, DeComFL is Algorithm 5: the
	// scalars are the inner products (11) of a client's gradient with the directions.
	Gradient func(client int, at At, x []float64) []float64
}

// An Iterate is a client's state between rounds: x and the momentum.
type Iterate struct{ X, M []float64 }

// Clone returns a copy of s: the snapshot before a local update.
func (s Iterate) Clone() Iterate { return Iterate{clone(s.X), clone(s.M)} }

// RebuildModel is procedure 1 of Algorithm 4 for one round: the K steps along
// the averaged scalars g[k][p].
func (d *DeComFL) RebuildModel(s Iterate, n uint64, g [][]float64) {
	for k := range d.K {
		d.step(s, n, k, g[k])
	}
}

// LocalUpdate is procedure 2 of Algorithm 4: it returns the scalars of a client and the client's
// final local model. LocalUpdate does not change s, which has the effect of line 23.
func (d *DeComFL) LocalUpdate(s Iterate, client int, n uint64) (g [][]float64, end Iterate) {
	local := s.Clone()
	for k := range d.K {
		gk := make([]float64, d.P)
		for p := range d.P {
			gk[p] = d.scalar(client, At{n, k}, local.X, d.Direction(client, At{n, k}, p))
		}
		g = append(g, gk)
		d.step(local, n, k, gk)
	}
	return g, local
}

// scalar is line 18 of Algorithm 4, or line 15 of Algorithm 5.
func (d *DeComFL) scalar(client int, at At, x, z []float64) float64 {
	if d.Gradient != nil {
		return dot(d.Gradient(client, at, x), z)
	}
	if d.Central {
		return d.central(client, at, x, z, d.Mu)
	}
	return d.forward(client, at, x, z, d.Mu)
}

// step is line 21 of Algorithm 4, or, with momentum, equations (8) and (9) on the gradient
// estimate of that line.
func (d *DeComFL) step(s Iterate, n uint64, k int, g []float64) {
	v := make([]float64, d.Dim)
	for p := range d.P {
		z := d.Direction(0, At{n, k}, p) // the same for any client, because it is shared
		for i := range v {
			v[i] += g[p] * z[i] / float64(d.P)
		}
	}
	for i := range v {
		v[i] += d.Decay * s.X[i]
		if d.Beta > 0 {
			gain := 1 - d.Beta
			if d.Torch {
				gain = 1
			}
			s.M[i] = d.Beta*s.M[i] + gain*v[i]
			v[i] = s.M[i]
		}
		s.X[i] -= d.Eta * v[i]
	}
}

// Round is one round of Algorithm 3 over the sampled clients. Round updates s, and returns the
// mean of the clients' local models. This mean equals s.X, because the local models are linear in
// the scalars.
func (d *DeComFL) Round(s Iterate, n uint64, sampled []int) (meanModel []float64) {
	mean := make([][]float64, d.K)
	for k := range mean {
		mean[k] = make([]float64, d.P)
	}
	meanModel = make([]float64, d.Dim)
	for _, client := range sampled {
		g, end := d.LocalUpdate(s, client, n)
		for k := range g {
			for p := range g[k] {
				mean[k][p] += g[k][p] / float64(len(sampled))
			}
		}
		for i, x := range end.X {
			meanModel[i] += x / float64(len(sampled))
		}
	}
	d.RebuildModel(s, n, mean)
	return meanModel
}
