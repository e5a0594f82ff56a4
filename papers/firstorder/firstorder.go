package firstorder

import (
	"math/rand/v2"
	"slices"
)

// A Problem is the function that clients minimize.
type Problem struct {
	Dim int
	// Gradient returns the mean loss at x over samples, and adds its gradient to grad, which
	// is Dim long.
	Gradient func(grad, x []float32, samples []int) float64
	Shares   [][]int // samples of each client
}

// A Method is FedAvg (McMahan et al. 2017) with equal weights, and with the additions of other
// methods. In each round Asked clients make Steps local steps from x, and the server adds the
// mean change of their models to x.
type Method struct {
	Asked int     // clients a round
	Steps int     // K
	Batch int     // samples of a minibatch, at most those of the client
	Eta   float32 // step size of local steps
	Beta  float32 // their momentum, m = Beta m + g, which starts at 0 in each round
	// Prox is FedProx's mu (Li et al. 2020): a client adds Prox (y - x) to each gradient.
	Prox float32
	// Scaffold adds the control variate c - c_i to each gradient, by option II of Algorithm 1 of
	// SCAFFOLD (Karimireddy et al. 2020) with a server step size of 1.
	Scaffold bool
	// Groups is the number of groups of clients that take turns: CyCP (Cho et al. 2023). 0 means one
	// group.
	Groups int
	// Compress replaces a client's move by the move that the server decodes, and returns the number
	// of floats in the client's message; nil: no compression.
	Compress func(move []float32) (floats float64)
}

// A Run is the state of a method that trains on a problem.
type Run struct {
	X         []float32 // the model
	Rounds    int       // made so far
	Gradients int       // of all clients so far
	// Floats is the number of floats that a client has sent and received if it took part in every
	// round.
	Floats float64

	problem *Problem
	method  Method
	random  *rand.Rand
	c       []float32   // SCAFFOLD
	own     [][]float32 // c_i; nil: 0

	// Of a client's work.
	y, m, g, move []float32
	batch         []int
}

// New returns a run that starts at a copy of x. The seed decides which clients take part, and
// which minibatches they draw.
func New(p *Problem, m Method, x []float32, seed uint64) *Run {
	r := &Run{X: slices.Clone(x), problem: p, method: m,
		random: rand.New(rand.NewPCG(seed, 0x6669727374))}
	for _, v := range []*[]float32{&r.y, &r.m, &r.g, &r.move} {
		*v = make([]float32, p.Dim)
	}
	if m.Scaffold {
		r.c, r.own = make([]float32, p.Dim), make([][]float32, len(p.Shares))
	}
	return r
}

// Round makes a round, and returns the mean of the clients' losses before their first steps.
func (r *Run) Round() (loss float64) {
	sum, change := make([]float64, r.problem.Dim), make([]float64, r.problem.Dim)
	sent := 0.0
	clients := r.clients()
	for _, client := range clients {
		loss += r.local(client) / float64(len(clients))
		if r.method.Scaffold {
			r.update(client, change)
		}
		sent = float64(r.problem.Dim)
		if r.method.Compress != nil {
			sent = r.method.Compress(r.move)
		}
		for i, v := range r.move {
			sum[i] += float64(v)
		}
	}
	for i, v := range sum {
		r.X[i] += float32(v / float64(len(clients)))
	}
	if r.method.Scaffold {
		for i, v := range change {
			r.c[i] += float32(v / float64(len(r.problem.Shares)))
		}
		sent *= 2 // c_i goes up, too
	}
	r.Rounds++
	r.Floats += sent + r.received()
	return loss
}

// received returns the floats that a client receives for a round: x, and with SCAFFOLD c.
func (r *Run) received() float64 {
	if r.method.Scaffold {
		return 2 * float64(r.problem.Dim)
	}
	return float64(r.problem.Dim)
}

// clients draws the clients of the next round, without replacement.
func (r *Run) clients() []int {
	var available []int
	groups := max(r.method.Groups, 1)
	for client := range r.problem.Shares {
		if client%groups == r.Rounds%groups {
			available = append(available, client)
		}
	}
	r.random.Shuffle(len(available), func(i, j int) {
		available[i], available[j] = available[j], available[i]
	})
	return available[:min(r.method.Asked, len(available))]
}

// local makes a client's steps from x. local writes the client's model to r.y, and y - x to
// r.move.
func (r *Run) local(client int) (loss float64) {
	m := &r.method
	copy(r.y, r.X)
	clear(r.m)
	for k := range m.Steps {
		clear(r.g)
		l := r.problem.Gradient(r.g, r.y, r.pick(client))
		r.Gradients++
		if k == 0 {
			loss = l
		}
		r.correct(client)
		for i, g := range r.g {
			r.m[i] = m.Beta*r.m[i] + g
			r.y[i] -= m.Eta * r.m[i]
		}
	}
	for i := range r.move {
		r.move[i] = r.y[i] - r.X[i]
	}
	return loss
}

// correct adds FedProx's term and SCAFFOLD's control variates to a gradient.
func (r *Run) correct(client int) {
	if r.method.Prox > 0 {
		for i := range r.g {
			r.g[i] += r.method.Prox * (r.y[i] - r.X[i])
		}
	}
	if !r.method.Scaffold {
		return
	}
	for i, c := range r.c {
		r.g[i] += c
	}
	for i, c := range r.own[client] {
		r.g[i] -= c
	}
}

// update sets c_i to c_i - c + (x - y)/(K eta), and adds its change to change.
func (r *Run) update(client int, change []float64) {
	if r.own[client] == nil {
		r.own[client] = make([]float32, r.problem.Dim)
	}
	scale := 1 / (float32(r.method.Steps) * r.method.Eta)
	for i, v := range r.move {
		d := -r.c[i] - scale*v
		r.own[client][i] += d
		change[i] += float64(d)
	}
}

// pick draws a minibatch, without replacement.
func (r *Run) pick(client int) []int {
	share := r.problem.Shares[client]
	if r.method.Batch >= len(share) {
		return share
	}
	r.batch = append(r.batch[:0], share...)
	for i := range r.method.Batch {
		j := i + r.random.IntN(len(r.batch)-i)
		r.batch[i], r.batch[j] = r.batch[j], r.batch[i]
	}
	return r.batch[:r.method.Batch]
}
