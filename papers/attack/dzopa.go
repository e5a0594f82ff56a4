package attack

// gamma is the weight of the neighbors in [DZOPA].
const gamma = 0.01

// DZOPA is the second algorithm of Yi et al., "Zeroth-order algorithms for stochastic
// distributed nonconvex optimization" (2022), as in FedZO's code. There is no server, every
// agent has its own x, and in a round
//
//	x_i -= gamma sum_j L_ij x_j + eta G_i(x_i)
//
// with the Laplacian L of the complete graph and sphere directions.
type DZOPA struct {
	Fleet
	x [][]float32 // by agent
}

// NewDZOPA starts at zero.
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
			// Row agent of L is the number of agents, less 1, and -1 for each other.
			laplacian := float32(agents*v) - total[i]
			x[i] = v - float32(gamma*laplacian) - float32(float32(a.Step)*g[i])
		}
	})
}

// X returns the mean over the agents.
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

// Queries is how many losses a round takes.
func (a *DZOPA) Queries() uint64 { return uint64(len(a.x)) * a.queries() }
