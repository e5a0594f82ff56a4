package reference

// FedProx is FZooS (89) in the framework of its Algorithm 1: each local step moves against
//
//	Delta_i(x_{r,t-1}) + gamma (x_{r,t-1} - x_{r-1})
type FedProx struct {
	Problem
	K, P           int
	Mu, Eta, Gamma float64
}

// Round returns the mean of the clients' local models.
func (f *FedProx) Round(x []float64, n uint64, sampled []int) []float64 {
	var locals [][]float64
	for _, client := range sampled {
		local := clone(x)
		for k := range f.K {
			g := f.fd(client, At{n, k}, local, f.Mu, f.P)
			add(g, f.Gamma, along(local, -1, x))
			add(local, -f.Eta, g)
		}
		locals = append(locals, local)
	}
	return mean(locals...)
}

// MeZO is one client's ZO-SGD along one direction a step, with central differences:
// Algorithm 1 of MeZO.
type MeZO struct {
	Problem
	Mu, Eta float64
}

// Round returns x after the step of record n.
func (m *MeZO) Round(x []float64, n uint64) []float64 {
	z := m.Direction(0, At{n, 0}, 0)
	return along(x, -m.Eta*m.central(0, At{n, 0}, x, z, m.Mu), z)
}
