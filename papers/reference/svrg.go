package reference

// ZOSVRG is Algorithm 2 of Liu et al. 2018, adapted to a federation like federated SVRG: a round
// takes the place of an epoch, and g is the mean over clients. With I_k a client's minibatch,
//
//	v = grad_I_k f(x_k) - grad_I_k f(x_0) + g,   g = mean over clients of grad f(x_0) on all data
//	x = x - eta v
//
// All estimates are equation (3) of Liu et al., the mean over P directions. g and each step have
// directions of their own. Both estimates of a step use the same directions.
type ZOSVRG struct {
	Problem
	K, P    int
	Mu, Eta float64
}

// Round returns the mean of the local models of the clients in second, after the steps of record
// n+1. The clients in first estimate g along the directions of record n.
func (z *ZOSVRG) Round(x []float64, n uint64, first, second []int) []float64 {
	whole := z.Problem
	whole.Loss = func(client int, _ At, x []float64) float64 { return z.Loss(client, At{}, x) }
	var points [][]float64
	for _, client := range first {
		points = append(points, whole.fd(client, At{n, 0}, x, z.Mu, z.P))
	}
	g := mean(points...)
	var locals [][]float64
	for _, client := range second {
		local := clone(x)
		for k := range z.K {
			v := z.fd(client, At{n + 1, k}, local, z.Mu, z.P)
			add(v, -1, z.fd(client, At{n + 1, k}, x, z.Mu, z.P))
			add(v, 1, g)
			add(local, -z.Eta, v)
		}
		locals = append(locals, local)
	}
	return mean(locals...)
}
