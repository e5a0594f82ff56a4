package attack

import "math/rand/v2"

// chosen is the second word of the seed for the generator with which Round chooses clients.
const chosen = 0x7a6f6e65732d7331

// ZONES is ZONE-S of Hajinezhad et al., "ZONE: zeroth-order nonconvex multiagent optimization
// over networks" (2019), as in FedZO's code, with rho = 1/eta and alpha = 1/N. In each round the
// server draws one client i at random, and this client computes
//
//	z_i = x - (l_i + G_i(x)) / (alpha rho)
//	l_i += alpha rho (z_i - x)
//
// For the other clients j, z_j = x. Then the server computes
//
//	x = sum_j (rho z_j + l_j) / sum_j rho
//
// with the l_j from before the round. Directions are normal, as in the paper. FedZO's code also
// multiplies the estimates by d, so its eta is d times smaller.
type ZONES struct {
	Fleet
	x     []float32
	duals [][]float32 // l, by client
}

// NewZONES returns a ZONES that starts at x = 0.
func NewZONES(f Fleet) *ZONES {
	return &ZONES{f, make([]float32, f.Dim), vectors(len(f.Shares), f.Dim)}
}

// Round makes round n, from 1.
func (s *ZONES) Round(n uint64) {
	clients := len(s.duals)
	client := rand.New(rand.NewPCG(s.Seed, chosen+n)).IntN(clients)
	g, rho, alpha := make([]float32, s.Dim), 1/s.Step, 1/float64(clients)
	s.gradient(g, s.x, client, n, false)
	for i, v := range s.x {
		x, duals := float64(v), 0.0
		for _, l := range s.duals {
			duals += float64(l[i])
		}
		dual := float64(s.duals[client][i])
		z := x - (dual+float64(g[i]))/(alpha*rho)
		s.duals[client][i] = float32(dual + float64(alpha*rho*(z-x)))
		total := rho*(z+float64(float64(clients-1)*x)) + duals
		s.x[i] = float32(total / (float64(clients) * rho))
	}
}

// X returns the x of the server.
func (s *ZONES) X() []float32 { return append([]float32(nil), s.x...) }

// State returns x, followed by the l_i of each client.
func (s *ZONES) State() [][]float32 { return append([][]float32{s.x}, s.duals...) }

// Queries returns the number of losses that all clients compute in a round.
func (s *ZONES) Queries() uint64 { return s.queries() }
