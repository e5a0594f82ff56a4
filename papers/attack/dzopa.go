package attack

// gamma is the weight of the neighbors in [DZOPA].
const gamma = 0.01

// DZOPA is the second algorithm of Yi et al., "Zeroth-order algorithms for stochastic distributed
// nonconvex optimization" (2022), as in FedZO's code. DZOPA has no server. Every agent i has its
// own x_i, and in a round
//
//	x_i -= gamma sum_j L_ij x_j + eta G_i(x_i)
//
// with the Laplacian L of the complete graph and sphere directions.
type DZOPA struct {
	Fleet
	x [][]float32 // by agent
}

// NewDZOPA returns a DZOPA whose agents start at x_i = 0.
func NewDZOPA(f Fleet) *DZOPA { return &DZOPA{f, vectors(len(f.Shares), f.Dim)} }

// Round makes round n, from 1.
func (a *DZOPA) Round(n uint64) {
	total, agents := make([]float32, a.Dim), float32(len(a.x))
	for _, x := range a.x {
		for i, v := range x {
			total[i] += v
		}
	}
	a.each(func(agent int) {
		g, x := make([]float32, a.Dim), a.x[agent]
		a.gradient(g, x, agent, n, true)
		for i, v := range x {
			// The agent's row of L has the number of agents minus 1 at the agent itself, and -1 elsewhere.
			laplacian := float32(agents*v) - total[i]
			x[i] = v - float32(gamma*laplacian) - float32(float32(a.Step)*g[i])
		}
	})
}

// X returns the mean of the agents' x_i.
func (a *DZOPA) X() []float32 {
	mean := make([]float32, a.Dim)
	for i := range mean {
		sum := 0.0
		for _, x := range a.x {
			sum += float64(x[i])
		}
		mean[i] = float32(sum / float64(len(a.x)))
	}
	return mean
}

// State returns the x of each agent.
func (a *DZOPA) State() [][]float32 { return a.x }

// Queries returns the number of losses that all agents compute in a round.
func (a *DZOPA) Queries() uint64 { return uint64(len(a.x)) * a.queries() }
