// Package memlimit says in which plans a device takes part: in the plans that fit its memory.
package memlimit

import (
	"errors"
	"fmt"

	"github.com/zofl/zofl/internal/footprint"
	"github.com/zofl/zofl/plan"
)

// ErrPlan says that this device does not take part in the run's plan.
var ErrPlan = errors.New("this device does not take part in the plan")

const (
	// Floor is the part of the default limit that does not depend on the model. A surrogate of a
	// softmax regression of 7,850 parameters takes 381 MB, and so fits.
	Floor = 512 << 20
	// Vectors is the rest of the default limit, in vectors of the model's parameters. Only two
	// methods can need so many vectors: a method that keeps a subspace of more than 20 moves, and a
	// surrogate.
	Vectors = 48
	// Witness is the default limit of a passive replica, because its app gives no number of
	// parameters.
	Witness = 1 << 30
)

// Default returns the limit in bytes for a device that sets no limit. dim is the number of
// parameters of the device's model, 0 for a passive replica.
func Default(dim int) uint64 {
	if dim == 0 {
		return Witness
	}
	return Floor + 4*Vectors*uint64(dim)
}

// A Guard checks plans for one device.
type Guard struct {
	Limit  uint64 // bytes
	Device footprint.Device
}

// Fits returns an error unless a valid plan fits the device's memory. The error matches [ErrPlan]
// and wraps a *plan.Error.
func (g *Guard) Fits(p *plan.Plan) error {
	need := footprint.Bytes(p, g.Device)
	if need <= g.Limit {
		return nil
	}
	field, value := footprint.Cause(p, g.Device)
	return fmt.Errorf("%w: %w", ErrPlan, &plan.Error{Field: field, Value: value,
		Remedy: fmt.Sprintf("the plan needs %d bytes on this device, and MemoryLimit is %d: "+
			"raise MemoryLimit, or have the operator lower %s", need, g.Limit, field)})
}
