package reference

import "cmp"

// A Fleet has the parts of all the papers' methods as fields that can be combined, and the
// options that no paper has. Every client has its own local model, and the server averages the
// local models, as in the papers. Production replays averaged scalars instead, and the tests show
// that the replay gives the same model. Only if [Fleet.Replayed] is true does a Fleet replay the
// aggregated scalars too, because then the averaged model is another one.
type Fleet struct {
	Problem
	Clients int // N
	K       int
	Mu      float64
	Central bool
	// Gradient, unless nil, is the gradient of Loss: clients send the inner products of the gradient
	// with the directions (DeComFL, Algorithm 5), which are the limits of the finite differences as
	// Mu goes to 0.
	Gradient func(client int, at At, x []float64) []float64
	// Gain is the factor between scalars and estimates: Dim for directions on the unit
	// sphere, otherwise 1.
	Gain float64
	// MuScale and StepScale are factors on mu and eta for each element; nil: 1.
	MuScale, StepScale []float64

	Beta        float64 // DeComFL (8)-(9); 0 is none
	Torch       bool    // without the factor (1-Beta) of (8)
	Decay, Prox float64
	Control     Control
	Server      Server

	Tau         int // ZOFedHT; 0 is none
	Alpha       float64
	Coordinates func(client int, at At, p int) []float64

	// Travel rounds a scalar to a value that messages can carry; nil: no rounding.
	Travel func(g float64) float64
	// Block rounds all scalars of a client's step together, for formats in which the rounding of a
	// scalar depends on the other scalars; nil: no rounding.
	Block func(g []float64)
	// Clip is the largest norm of a client's scalars, as one vector; 0: no limit.
	Clip float64
	// Aggregate combines the clients' scalars into one; nil: the weighted mean.
	Aggregate func(g []float64) float64
	// If Relayed is set, the coordinator sends each client's scalars to all clients, instead of the
	// mean of the scalars.
	Relayed bool

	// If Dense is set, messages carry whole models. Then clients take their steps with the optimizer
	// Local, which they reset each round, instead of the momentum of Beta and Torch. The control
	// variate c is then the mean over the last round's contributors. A client without a c_i makes no
	// correction: see [Federated].
	Dense  bool
	Local  Optimizer
	Domain *Domain   // nil: unbounded
	Origin []float64 // where Decay pulls to; nil: 0
}

// Control is the kind of correction: SCAFFOLD's types, or ZO-SVRG's.
type Control int

const (
	NoControl Control = 0
	TypeI     Control = 1
	TypeII    Control = 2
	Reduced   Control = 4
)

// A State is the state between rounds.
type State struct {
	X, M    []float64 // model and local momentum
	Server  Moments
	Delta   []float64   // mean move of the clients in the last round
	Moves   [][]float64 // moves of the model, newest first
	Q       [][]float64 // nil: none yet
	Control [][]float64 // c_i; with Dense nil before the first
	C       []float64   // Dense: c

	Normalized Normalized // the rule of that name
	Evolution  *Evolution // the rule of that name
}

// NewState returns the state of round 0 at x.
func (f *Fleet) NewState(x []float64) *State {
	s := &State{X: clone(x), M: make([]float64, f.Dim), Server: NewMoments(f.Dim, f.Server.V0)}
	s.Normalized = Normalized{Beta1: f.Server.Beta1, Beta2: f.Server.Beta2, Decay: f.Server.Decay}
	for range f.Clients {
		var own []float64
		if !f.Dense {
			own = make([]float64, f.Dim)
		}
		s.Control = append(s.Control, own)
	}
	return s
}

// A Round has the parameters of a round.
type Round struct {
	R       int    // from 0
	N       uint64 // its record
	P       int
	Eta     float64
	Factor  float64   // on Server.Alpha; 0 means 1
	Clients []int     // contributors
	Weights []float64 // of the contributors; nil: equal
	Point   *Round    // TypeI, Reduced: the phase before, of which N, Clients, Weights are used
}

// weight returns the weight of contributor j in the mean.
func (r *Round) weight(j int) float64 {
	if r.Weights == nil {
		return 1 / float64(len(r.Clients))
	}
	sum := 0.0
	for _, w := range r.Weights {
		sum += w
	}
	return r.Weights[j] / sum
}

// Round makes one round, and updates s.
func (f *Fleet) Round(s *State, r *Round) {
	if f.Tau > 0 && r.R >= f.Tau && r.R%f.Tau == 0 {
		s.Q = DroppingQR(s.Moves)
	}
	switch f.Server.Rule {
	case NormalizedRule:
		s.X = f.normalized(s, r)
		return
	case EvolutionRule:
		s.X = f.evolve(s, r)
		return
	}
	end := f.mean(s, r)
	s.Delta = along(end.X, -1, s.X)
	next := f.Server.Times(cmp.Or(r.Factor, 1)).Step(s.X, s.Server, s.Delta)
	s.Moves = append([][]float64{along(next, -1, s.X)}, s.Moves...)
	s.Moves = s.Moves[:min(len(s.Moves), max(f.Tau, 1))]
	s.X, s.M = next, end.M
}

// mean returns the mean of the contributors' local models and momenta.
func (f *Fleet) mean(s *State, r *Round) Iterate {
	end := Iterate{make([]float64, f.Dim), make([]float64, f.Dim)}
	corrections, middle := f.corrections(s, r)
	scalars := make([][][]float64, len(r.Clients))
	for j, client := range r.Clients {
		g, local := f.local(s, r, client, corrections[j])
		if f.Clip > 0 {
			g = f.shorten(g)
			local = f.replay(s, r, client, g, corrections[j])
		}
		scalars[j] = g
		add(end.X, r.weight(j), local.X)
		add(end.M, r.weight(j), local.M)
	}
	if f.Control == TypeII {
		s.C = make([]float64, f.Dim)
		for j, client := range r.Clients {
			s.Control[client] = f.average(s, r, client, scalars[j])
			add(s.C, r.weight(j), s.Control[client])
		}
	}
	if f.Replayed() {
		return f.replay(s, r, r.Clients[0], f.aggregate(r, scalars), middle)
	}
	return end
}

// corrections returns the correction c - c_i of each contributor i, and the mean of these
// corrections.
func (f *Fleet) corrections(s *State, r *Round) (each [][]float64, middle []float64) {
	middle = make([]float64, f.Dim)
	switch f.Control {
	case TypeI:
		return f.points(s, r)
	case Reduced:
		return f.whole(s, r)
	}
	for j, client := range r.Clients {
		correction := make([]float64, f.Dim)
		switch own := s.Control[client]; {
		case f.Control == TypeII && !f.Dense:
			correction = along(mean(s.Control...), -1, own)
		case f.Control == TypeII && own != nil:
			correction = along(s.C, -1, own)
		}
		each = append(each, correction)
		add(middle, r.weight(j), correction)
	}
	return each, middle
}

// points returns the corrections of TypeI. The clients make their estimates at the model with
// which the round begins, on the first minibatch of the phase before.
func (f *Fleet) points(s *State, r *Round) (each [][]float64, middle []float64) {
	at := At{r.Point.N, 0}
	at0 := func(client int) []float64 { return f.scalars(s, client, at, s.X, r.P) }
	if f.Dense {
		return f.vectors(s, r,
			func(client int) []float64 { return f.estimate(s, client, at, at0(client)) }), nil
	}
	c, own := make([]float64, r.P), make([]float64, r.P)
	for j, client := range r.Point.Clients {
		add(c, r.Point.weight(j), at0(client))
	}
	f.travel(c)
	for j, client := range r.Clients {
		each = append(each, f.estimate(s, client, at, along(c, -1, at0(client))))
		add(own, r.weight(j), at0(client))
	}
	f.travel(own)
	return each, f.estimate(s, r.Clients[0], at, along(c, -1, own))
}

// whole returns the correction c of Reduced for each contributor. The clients make their
// estimates at the model with which the round begins, on all their data.
func (f *Fleet) whole(s *State, r *Round) (each [][]float64, middle []float64) {
	all, at := *f, At{r.Point.N, 0}
	all.Loss = func(client int, _ At, x []float64) float64 { return f.Loss(client, At{}, x) }
	if f.Gradient != nil {
		all.Gradient = func(client int, _ At, x []float64) []float64 {
			return f.Gradient(client, At{}, x)
		}
	}
	g, c := make([]float64, r.P), make([]float64, f.Dim)
	for j, client := range r.Point.Clients {
		own := all.scalars(s, client, at, s.X, r.P)
		add(g, r.Point.weight(j), own)
		add(c, r.Point.weight(j), all.estimate(s, client, at, own))
	}
	if !f.Dense {
		f.travel(g)
		c = all.estimate(s, 0, at, g)
	}
	for range r.Clients {
		each = append(each, c)
	}
	return each, c
}

// vectors returns the corrections of TypeI if messages carry the estimates as whole vectors.
func (f *Fleet) vectors(s *State, r *Round, at0 func(client int) []float64) (each [][]float64) {
	c := make([]float64, f.Dim)
	for j, client := range r.Point.Clients {
		add(c, r.Point.weight(j), at0(client))
	}
	for _, client := range r.Clients {
		each = append(each, along(c, -1, at0(client)))
	}
	return each
}

// average returns the mean of a client's estimates over the steps of a round.
func (f *Fleet) average(s *State, r *Round, client int, g [][]float64) []float64 {
	var steps [][]float64
	for k := range g {
		steps = append(steps, f.estimate(s, client, At{r.N, k}, g[k]))
	}
	return mean(steps...)
}

// local returns a client's scalars g[k][p] and its model after K steps.
func (f *Fleet) local(s *State, r *Round, client int,
	correction []float64) (g [][]float64, end Iterate) {
	end = f.walk(s, r, client, correction, func(k int, x []float64) []float64 {
		g = append(g, f.slopes(s, client, At{r.N, k}, x, r.P))
		if f.Control == Reduced {
			add(g[k], -1, f.slopes(s, client, At{r.N, k}, s.X, r.P))
		}
		f.rounded(g[k])
		return g[k]
	})
	return g, end
}

// replay returns the model that scalars g[k][p] give along a client's directions.
func (f *Fleet) replay(s *State, r *Round, client int, g [][]float64,
	correction []float64) Iterate {
	return f.walk(s, r, client, correction, func(k int, _ []float64) []float64 { return g[k] })
}

// walk makes K local steps. Step k moves along the client's directions, with the scalars that g
// returns for step k at the local model x.
func (f *Fleet) walk(s *State, r *Round, client int, correction []float64,
	g func(k int, x []float64) []float64) Iterate {
	local, own := Iterate{clone(s.X), clone(s.M)}, f.Local
	own.Begin(f.Dim)
	for k := range f.K {
		v := f.estimate(s, client, At{r.N, k}, g(k, local.X))
		add(v, f.Decay, local.X)
		if f.Origin != nil {
			add(v, -f.Decay, f.Origin)
		}
		add(v, f.Prox, along(local.X, -1, s.X))
		add(v, 1, correction)
		if f.Beta > 0 {
			gain := 1 - f.Beta
			if f.Torch {
				gain = 1
			}
			for i := range v {
				local.M[i] = f.Beta*local.M[i] + gain*v[i]
			}
			v = local.M
		}
		if f.Dense {
			v = own.Step(v)
		}
		local.X = f.Domain.Project(along(local.X, -r.Eta, scaled(v, f.StepScale)))
	}
	return local
}

// scalars returns a client's g[p] at x, rounded as in messages.
func (f *Fleet) scalars(s *State, client int, at At, x []float64, perturbations int) []float64 {
	g := f.slopes(s, client, at, x, perturbations)
	f.rounded(g)
	return g
}

// rounded rounds the scalars of a client's step.
func (f *Fleet) rounded(g []float64) {
	f.travel(g)
	if f.Block != nil {
		f.Block(g)
	}
}

// slopes returns a client's g[p] at x before any rounding.
func (f *Fleet) slopes(s *State, client int, at At, x []float64, perturbations int) []float64 {
	g, inside := make([]float64, perturbations), f.within(f.Domain)
	for p := range g {
		z := scaled(f.direction(s, client, at, p), f.MuScale)
		switch {
		case f.Gradient != nil:
			g[p] = dot(f.Gradient(client, at, x), z)
		case f.Central:
			g[p] = inside.central(client, at, x, z, f.Mu)
		default:
			g[p] = inside.forward(client, at, x, z, f.Mu)
		}
	}
	return g
}

// estimate returns the mean of g[p] z_p, times Gain.
func (f *Fleet) estimate(s *State, client int, at At, g []float64) []float64 {
	v := make([]float64, f.Dim)
	for p := range g {
		add(v, f.Gain*g[p]/float64(len(g)), f.direction(s, client, at, p))
	}
	return v
}

func (f *Fleet) direction(s *State, client int, at At, p int) []float64 {
	z := f.Direction(client, at, p)
	if s.Q == nil {
		return z
	}
	return combine(f.Alpha, z, s.Q, f.Coordinates(client, at, p))
}

// scaled returns v times a scale for each element; nil: v itself.
func scaled(v, scale []float64) []float64 {
	if scale == nil {
		return v
	}
	out := make([]float64, len(v))
	for i := range v {
		out[i] = scale[i] * v[i]
	}
	return out
}
