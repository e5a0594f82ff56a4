package blackbox

import "math/rand/v2"

// A Problem has N functions f_i of a vector, and the clients minimize their mean F.
type Problem interface {
	// Dim returns d, the length of x.
	Dim() int
	// Clients returns N.
	Clients() int
	// Box returns the least and the largest value of every coordinate of x.
	Box() (low, high float32)
	// Start writes the initial x to dst, which is Dim long. If the problem has no starting point of
	// its own, Start draws the point with seed.
	Start(dst []float32, seed uint64)
	// Local returns f_i, for i from 0 on. f_i allocates nothing, and panics if x is not Dim long.
	// Only one goroutine at a time may call the returned function; call Local again for another
	// goroutine. Local panics if there is no client i.
	Local(i int) func(x []float32) float64
}

// Mean returns F(x) = 1/N sum f_i(x), computed from all f_i in order. Only one goroutine at a
// time may call the returned function.
func Mean(p Problem) func(x []float32) float64 {
	list := make([]func([]float32) float64, p.Clients())
	for i := range list {
		list[i] = p.Local(i)
	}
	return func(x []float32) float64 {
		var sum float64
		for _, f := range list {
			sum += f(x)
		}
		return sum / float64(len(list))
	}
}

const (
	badDim    = "blackbox: x has another length than Dim"
	badClient = "blackbox: there is no such client"
)

// check panics unless x has the length that p needs.
func check(p Problem, x []float32) {
	if len(x) != p.Dim() {
		panic(badDim)
	}
}

// checkClient panics unless p has a client i.
func checkClient(p Problem, i int) {
	if i < 0 || i >= p.Clients() {
		panic(badClient)
	}
}

// clamp returns the value in the box that is nearest to v. For a NaN, clamp returns NaN.
func clamp(v, low, high float32) float32 { return min(max(v, low), high) }

// stream returns a generator for one purpose, independent of the generators for other
// purposes with the same seed.
func stream(seed, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x667a6f6f73<<16|purpose))
}

// Purposes of generators.
const (
	forCoefficients = iota
	forStart
	forClasses
	forRows
	forSplit
)
