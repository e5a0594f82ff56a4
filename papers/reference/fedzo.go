package reference

// FedZO is the recursion (2a)-(2c) of the DeComFL paper with FedZO's own estimator, FZooS
// (87): each local step of a client uses the mean, over P directions of its own that are
// uniform on the unit sphere, of
//
//	d/mu (f_i(x + mu z) - f_i(x)) z
//
// Direction returns unit vectors.
type FedZO struct {
	Problem
	K, P    int
	Mu, Eta float64
}

// LocalUpdate is (2a) and (2b): it returns the result of a client's K steps from x.
func (f *FedZO) LocalUpdate(x []float64, client int, n uint64) []float64 {
	local := clone(x)
	for k := range f.K {
		estimate := f.fd(client, At{n, k}, local, f.Mu, f.P)
		add(local, -f.Eta*float64(f.Dim), estimate)
	}
	return local
}

// Round returns (2c) over the sampled clients.
func (f *FedZO) Round(x []float64, n uint64, sampled []int) []float64 {
	var locals [][]float64
	for _, client := range sampled {
		locals = append(locals, f.LocalUpdate(x, client, n))
	}
	return mean(locals...)
}
