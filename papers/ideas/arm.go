package ideas

// An Arm is the recipe with one idea added. The zero Arm is the recipe alone.
type Arm struct {
	P, B []int // directions and samples a minibatch, by equal parts of the budget
	K    int   // local steps, each with P directions and a minibatch; 0: 1
	// Local is the length of the move that a device makes between two local steps, relative to the
	// move that the server rule would make along the device's estimate.
	Local float64
	// Groups is the number of groups among which a round's devices are dealt. The devices of a group
	// share directions, and only the mean of their scalars counts; 0: each has directions of its own.
	Groups int
	// Orthogonal makes the directions of all devices in a round orthogonal to each other.
	Orthogonal bool
	// Antithetic negates the directions of an odd round for the next one.
	Antithetic bool
	Shape      Shape
	Layers     Layers
	Memory     Memory
	Finish     Finish
	Other      Other
	Mask       float64 // share of the elements that train, see [trial.freeze]; 0: all
	Apart      int     // of P directions, those of the last layer alone; 0: each is of all layers
	Warm       int     // first rounds, by the gradients of a fifth of the devices
}

// Shape says by which factors a device multiplies the elements of its directions: by the square
// root of D, a diagonal with mean 1, so that the device estimates D times the gradient. v is a
// running mean of squares of the gradient's elements, h the diagonal of the Hessian.
type Shape struct {
	Of    Source
	Power float64 // D is what the source has, to this power
	Least float64 // part of the source's mean that an element counts as at least; 0: 0.1
	Moves bool    // moves are multiplied by D, and directions are as they were
}

// A Source says from which values an arm computes the diagonal D.
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

// Memory says how the estimate of a round uses the estimates of earlier rounds.
type Memory uint8

const (
	Momentum Memory = iota
	// Control uses the momentum as a control variate: it subtracts the momentum's prediction from
	// each scalar, times the factor that fits best, and adds the same multiple of the momentum to
	// the estimate.
	Control
	// LongControl is Control with a longer momentum of its own.
	LongControl
	// Kalman keeps a running estimate of the gradient in place of the momentum. Each scalar corrects
	// the estimate by the difference between the scalar and its prediction, with the gain 1/d of a
	// Kalman filter without measurement noise.
	Kalman
	// Squares uses the least-squares gradient for the scalars of the last 10 rounds.
	Squares
)

// at returns the entry of a list for the share t of the budget, from 0 to 1.
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
