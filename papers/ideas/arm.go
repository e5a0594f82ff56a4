package ideas

// An Arm is the recipe with one idea. The zero value is the recipe.
type Arm struct {
	P, B []int // directions and samples a minibatch, by equal parts of the budget
	K    int   // local steps, each with P directions and a minibatch; 0: 1
	// Local is the length of a device's own move between two local steps, as a part of what the
	// rule would move along its estimate.
	Local float64
	// Orthogonal makes the directions of all devices in a round orthogonal to each other.
	Orthogonal bool
	// Antithetic negates the directions of an odd round for the next one.
	Antithetic bool
	Shape      Shape
	Layers     Layers
	Memory     Memory
	Finish     Finish
}

// Shape says by what the directions' elements are multiplied: the square root of D, which has the
// mean 1, so that the estimate is of D times the gradient. v is a running mean of squares of the
// gradient's elements, h the diagonal of the Hessian.
type Shape struct {
	Of    Source
	Power float64 // D is what the source has, to this power
	Least float64 // part of the source's mean that an element counts as at least; 0: 0.1
	Moves bool    // moves are multiplied by D, and directions are as they were
}

// A Source is where a diagonal comes from.
type Source uint8

const (
	Nothing Source = iota
	Rounds         // v of the rounds' estimates, as HiSo has it: most of it is their noise
	Halves         // v of the products of two halves of the devices' estimates: without noise
	Exact          // v of the exact mean gradient, which no scalar tells
	Hessian        // h by gradients at a few points of the run, which no scalar tells
)

// Layers scales the moves of layers, as a plan's StepScale does.
type Layers struct {
	Last  float64 // factor of the last weights and biases; 0: 1
	Power float64 // scale by (|g|^2 / trace h) of a layer to this power, from gradients; 0: not
}

// Memory says how a round's estimate uses earlier ones.
type Memory uint8

const (
	Momentum Memory = iota
	// Control subtracts from each scalar what the momentum predicts, with the factor that fits
	// best, and adds that part again: a control variate.
	Control
	// LongControl is Control with a longer momentum of its own.
	LongControl
	// Kalman has a running estimate in place of the momentum, which each scalar corrects by what
	// it differs from the prediction, with the gain 1/d of a filter without measurement noise.
	Kalman
	// Squares replays the scalars of the last 10 rounds: the least-squares gradient of all.
	Squares
)

// at returns the entry of a list for a part t of the budget, from 0 to 1.
func at(list []int, t float64, otherwise int) int {
	if len(list) == 0 {
		return otherwise
	}
	return list[min(int(t*float64(len(list))), len(list)-1)]
}

const (
	usualP = 10
	usualB = 200
)
