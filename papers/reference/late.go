package reference

import "math"

// An Update is a client's contribution to some round, made from the state at its beginning.
type Update struct {
	Client int
	State  *State // before Round
	Round  *Round
	Age    int // rounds from Round to the one that counts it
	Weight float64
}

// Buffered is FedBuff (Nguyen et al. 2022, Algorithm 1) with weights and a server step of 1: the
// model moves by the discounted moves of the clients' local models,
//
//	x += sum_i s(age_i) w_i Delta_i / sum_i w_i
//
// where the paper has K updates of weight 1. Delta_i is what the K local steps changed.
func (f *Fleet) Buffered(x []float64, updates []Update, discount func(age int) float64) []float64 {
	move, total := make([]float64, f.Dim), 0.0
	for i := range updates {
		u := &updates[i]
		_, end := f.local(u.State, u.Round, u.Client, make([]float64, f.Dim))
		add(move, u.Weight*discount(u.Age), along(end.X, -1, u.State.X))
		total += u.Weight
	}
	return along(x, 1/total, move)
}

// Root is FedBuff's discount, 1/sqrt(1+age).
func Root(age int) float64 { return math.Pow(1+float64(age), -0.5) }

// NoDiscount is FedAsync's constant (Xie et al. 2019).
func NoDiscount(int) float64 { return 1 }

// Polynomial is FedAsync's (1+age)^-a.
func Polynomial(a float64) func(age int) float64 {
	return func(age int) float64 { return math.Pow(1+float64(age), -a) }
}

// Hinge is FedAsync's 1 up to b, and 1/(a(age-b) + 1) above.
func Hinge(a, b float64) func(age int) float64 {
	return func(age int) float64 {
		if float64(age) <= b {
			return 1
		}
		return 1 / (a*(float64(age)-b) + 1)
	}
}
