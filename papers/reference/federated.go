package reference

// A Federated is Algorithm 1 of FZooS with the estimates of the paper's appendix F, run as in its
// appendix G: clients send their models, and the server averages the models. Each client takes
// its steps within a domain, by its own optimizer, and resets this optimizer in each round.
//
//	(87)  Delta_i(x)
//	(89)  Delta_i(x) + Gamma (x - x_{r-1})
//	(91)  Delta_i(x) + mean of Delta_j(x_{r-1}) - Delta_i(x_{r-1})
//	(93)  Delta_i(x) + mean of g_j - g_i, g_j the mean of client j's Delta of its last round
//
// In the appendix, all clients take part in every round. If only some clients take part, the
// means here are over the participating clients, and g_i belongs to the last round in which
// client i took part. A client that has never taken part has no correction.
type Federated struct {
	Problem
	K, P    int
	Mu, Eta float64
	Form    Form
	Gamma   float64
	Local   Optimizer
	Domain  *Domain
}

// Form is the number of an estimate.
type Form int

const (
	Form87 Form = 87
	Form89 Form = 89
	Form91 Form = 91
	Form93 Form = 93
)

// A FederatedState is the state between rounds.
type FederatedState struct {
	X   []float64
	G   []float64         // (93): the mean over the last round's clients
	Own map[int][]float64 // (93): g_i
}

// Round makes the round of record n with the clients in second. The clients in first made the
// estimates for the corrections of (91), in record n-1.
func (f *Federated) Round(s *FederatedState, n uint64, first, second []int) {
	at0 := func(client int) []float64 { return f.delta(client, At{n - 1, 0}, s.X) }
	var common [][]float64
	if f.Form == Form91 {
		for _, client := range first {
			common = append(common, at0(client))
		}
	}
	var locals, found [][]float64
	for _, client := range second {
		correction := make([]float64, f.Dim)
		switch own := s.Own[client]; {
		case f.Form == Form91:
			correction = along(mean(common...), -1, at0(client))
		case f.Form == Form93 && own != nil:
			correction = along(s.G, -1, own)
		}
		local, g := f.localUpdates(client, n, s.X, correction)
		locals, found = append(locals, local), append(found, g)
	}
	s.X, s.G = mean(locals...), mean(found...)
	for j, client := range second {
		s.Own[client] = found[j]
	}
}

// localUpdates returns a client's x after its K steps, and the mean of its Delta.
func (f *Federated) localUpdates(client int, n uint64, start,
	correction []float64) (x, g []float64) {
	x, g = clone(start), make([]float64, f.Dim)
	local := f.Local
	local.Begin(f.Dim)
	for k := range f.K {
		v := f.delta(client, At{n, k}, x)
		add(g, 1/float64(f.K), v)
		add(v, 1, correction)
		if f.Form == Form89 {
			add(v, f.Gamma, along(x, -1, start))
		}
		x = f.Domain.Project(along(x, -f.Eta, local.Step(v)))
	}
	return x, g
}

// delta is the estimate (7), with losses at points in the domain only.
func (f *Federated) delta(client int, at At, x []float64) []float64 {
	inside := f.Problem.within(f.Domain)
	return inside.fd(client, at, x, f.Mu, f.P)
}
