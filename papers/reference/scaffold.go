package reference

// Scaffold1 is SCAFFOLD with corrections of type I, FZooS (91): each local step of client i
// moves against
//
//	Delta_i(x_{r,t-1}) + mean_j Delta_j(x_{r-1}) - Delta_i(x_{r-1})
//
// The clients make the estimates at x_{r-1} in a separate first phase, whose record has its own
// directions and minibatches. A client of the second phase computes its own estimate
// Delta_i(x_{r-1}) in the second phase, whether or not the client took part in the first.
type Scaffold1 struct {
	Problem
	K, P    int
	Mu, Eta float64
}

// Round returns the mean of the local models of the clients of the second phase, record n+1. The
// clients correct their steps by the estimates of the clients of the first phase, record n.
func (s *Scaffold1) Round(x []float64, n uint64, first, second []int) []float64 {
	var points [][]float64
	for _, client := range first {
		points = append(points, s.fd(client, At{n, 0}, x, s.Mu, s.P))
	}
	c := mean(points...)
	var locals [][]float64
	for _, client := range second {
		own, local := s.fd(client, At{n, 0}, x, s.Mu, s.P), clone(x)
		for k := range s.K {
			g := s.fd(client, At{n + 1, k}, local, s.Mu, s.P)
			add(g, 1, c)
			add(g, -1, own)
			add(local, -s.Eta, g)
		}
		locals = append(locals, local)
	}
	return mean(locals...)
}

// Scaffold2 is SCAFFOLD with corrections of type II, FZooS (93): c - c_i, where c_i is the
// mean of client i's estimates over the steps of its last round. With partial participation
// it is Algorithm 1 of Karimireddy et al.: c_i stays until the client takes part again, and
// c is the mean over all clients, including those that never took part, whose c_i is 0.
type Scaffold2 struct {
	Problem
	K, P    int
	Mu, Eta float64
	C       [][]float64 // c_i of each of the N clients
}

// Round returns the mean of the local models and replaces the sampled clients' c_i.
func (s *Scaffold2) Round(x []float64, n uint64, sampled []int) []float64 {
	c := mean(s.C...)
	var locals [][]float64
	for _, client := range sampled {
		local, sum := clone(x), make([]float64, s.Dim)
		for k := range s.K {
			g := s.fd(client, At{n, k}, local, s.Mu, s.P)
			add(sum, 1/float64(s.K), g)
			add(g, 1, c)
			add(g, -1, s.C[client])
			add(local, -s.Eta, g)
		}
		s.C[client] = sum
		locals = append(locals, local)
	}
	return mean(locals...)
}
