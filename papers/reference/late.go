package reference

import "math"

// An Update is a client's contribution to some round, computed from the state at the beginning of
// that round.
type Update struct {
	Client int
	State  *State // before Round
	Round  *Round
	Age    int // rounds from Round to the one that counts it
	Weight float64
}

// Buffered is FedBuff (Nguyen et al. 2022, Algorithm 1) with weights and a server step of 1: the
// server moves the model by the weighted mean of the changes of the clients' local models,
// discounted by their age,
//
//	x += sum_i s(age_i) w_i Delta_i / sum_i w_i        s(age) = 1/sqrt(1+age)
//
// where the paper has K updates of weight 1. Delta_i is the change of a client's model in its K
// local steps.
func (f *Fleet) Buffered(x []float64, updates []Update) []float64 {
	move, total := make([]float64, f.Dim), 0.0
	for i := range updates {
		u := &updates[i]
		_, end := f.local(u.State, u.Round, u.Client, make([]float64, f.Dim))
		add(move, u.Weight*math.Pow(1+float64(u.Age), -0.5), along(end.X, -1, u.State.X))
		total += u.Weight
	}
	return along(x, 1/total, move)
}
