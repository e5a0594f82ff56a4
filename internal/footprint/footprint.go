// Package footprint computes how much memory a device needs for a plan. A device checks this number
// before it allocates anything. Package cost, which devices do not link, computes the other costs.
package footprint

import (
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// A Device holds the facts, other than the plan, on which a device's memory depends.
type Device struct {
	// Flat: the loss takes a flat vector, so the device needs one more vector of d float32.
	Flat bool
	// Passive: the device replays the log and evaluates no losses.
	Passive bool
	// Workers is the number of goroutines that generate directions, each with its own blocks; 0 means
	// 1.
	Workers int
}

// Bytes returns the largest number of bytes that a valid plan makes a device allocate: the vectors
// of the replica and of local steps, the coefficients of a pool, the blocks of each worker, the
// vectors that the device sends and fetches, and the data of a surrogate. Bytes counts neither the
// app's own memory nor the few bytes of each scalar.
func Bytes(p *plan.Plan, d Device) uint64 {
	blocks := Scratch(p) * uint64(max(d.Workers, 1))
	transit := transitBytes(p) // fetched
	n := 4*Vectors(p)*p.Dim + 4*prng.BlockLen*blocks + poolBytes(p) + transit +
		evolutionBytes(p, d) + signBytes(p)
	switch {
	case d.Passive:
		return n + 4*uint64(p.Features)
	case d.Flat && p.Estimator != plan.Surrogate && p.ServerRule != plan.ServerCMA:
		// the points of these two are flat vectors anyway
		n += 4 * p.Dim
	}
	return n + transit + 4*Local(p)*p.Dim + surrogateBytes(p)
}

// Cause returns the field of a valid plan that would save a device most memory if it were halved,
// and the field's value. Cause returns dim, which the app's model determines, only if no other
// field would save an eighth of the memory.
func Cause(p *plan.Plan, d Device) (field string, value uint64) {
	field, value = "dim", p.Dim
	less, least := *p, Bytes(p, d)
	least -= least / 8
	for _, f := range []struct {
		name string
		at   *uint32
	}{
		{"features", &less.Features}, {"window", &less.Window}, {"active", &less.Active},
		{"around", &less.Around}, {"pool", &less.Pool}, {"subspace_moves", &less.SubspaceMoves},
		{"perturbations", &less.Perturbations}, {"restarts", &less.Restarts},
	} {
		whole := *f.at
		*f.at /= 2
		if n := Bytes(&less, d); n < least {
			least, field, value = n, f.name, uint64(whole)
		}
		*f.at = whole
	}
	return field, value
}

// Vectors returns the number of vectors of d float32 that every replica has: its state, and with a
// pool the initial parameters, unless the replica can generate them from seeds.
func Vectors(p *plan.Plan) uint64 {
	n := uint64(p.StateVectors())
	if p.Pool > 0 && p.Initial == plan.Given {
		n++
	}
	return n
}

// Local returns the number of vectors of d float32 that a working device needs in addition to the
// vectors of every replica. A vector of d float64 counts as two.
func Local(p *plan.Plan) uint64 {
	if p.SendsVectors() {
		return localDense(p)
	}
	return localScalars(p)
}

// Scratch returns the number of blocks that each worker needs as work space.
func Scratch(p *plan.Plan) uint64 {
	if p.SendsVectors() {
		return 1
	}
	return scratchScalars(p)
}
