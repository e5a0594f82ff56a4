// Package reference implements the papers' algorithms a second time, as a check on the production
// code. The implementations follow the papers' pseudo-code, with dense float64 vectors, and save
// neither time nor bytes.
//
// Each paper's algorithm has its own type, with only the inputs that the paper has: [DeComFL],
// [FedZO], [ZOAdaFL], [ZOFedHT], [FedProx], [Scaffold1], [Scaffold2], [ZOSVRG], [MeZO], and,
// where clients send whole models, [Federated] and [FZooS]. A [Fleet] has all of these but FZooS
// as fields that can be combined, with the options that no paper has. Tests compare the Fleet
// with each paper's type, and the production code with the Fleet and with FZooS.
package reference

// An At names a local step K of record N. N counts as in the log, K counts from 0. Where an At
// names a minibatch, the zero At means all of a client's data.
type At struct {
	N uint64
	K int
}

// A Problem is the input of an algorithm.
type Problem struct {
	Dim int
	// Loss returns f_i(x; xi) of a client i. In a step, the minibatch xi is the same for all
	// perturbations and both sides of a difference.
	Loss func(client int, at At, x []float64) float64
	// Direction returns the direction z of perturbation p, from 0, in a client's step. If the
	// clients share directions, the result does not depend on client.
	Direction func(client int, at At, p int) []float64
}

// forward is (f(x + mu z) - f(x)) / mu: DeComFL (3).
func (b *Problem) forward(client int, at At, x, z []float64, mu float64) float64 {
	return (b.Loss(client, at, along(x, mu, z)) - b.Loss(client, at, x)) / mu
}

// central is (f(x + mu z) - f(x - mu z)) / (2 mu): ZOFedHT (6).
func (b *Problem) central(client int, at At, x, z []float64, mu float64) float64 {
	return (b.Loss(client, at, along(x, mu, z)) - b.Loss(client, at, along(x, -mu, z))) / (2 * mu)
}

// fd is the finite difference method of FZooS (7) with P directions: the mean of forward
// differences times their directions.
func (b *Problem) fd(client int, at At, x []float64, mu float64, perturbations int) []float64 {
	v := make([]float64, b.Dim)
	for p := range perturbations {
		z := b.Direction(client, at, p)
		add(v, b.forward(client, at, x, z, mu)/float64(perturbations), z)
	}
	return v
}

// along returns x + a z.
func along(x []float64, a float64, z []float64) []float64 {
	out := clone(x)
	add(out, a, z)
	return out
}

// add adds a z to x.
func add(x []float64, a float64, z []float64) {
	for i := range x {
		x[i] += a * z[i]
	}
}

// mean returns the mean of vectors of equal length.
func mean(vectors ...[]float64) []float64 {
	out := make([]float64, len(vectors[0]))
	for _, v := range vectors {
		add(out, 1/float64(len(vectors)), v)
	}
	return out
}

func clone(x []float64) []float64 { return append([]float64(nil), x...) }

func dot(x, y []float64) (sum float64) {
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}
