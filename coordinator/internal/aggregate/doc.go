// Package aggregate computes the numbers of a record from the contributions to that record. The
// stages of a plan are chained like writers. Each stage changes a contribution, holds the
// contribution until the round closes, or ends the chain and fills the record. A chain has only
// stages that the plan asks for.
//
// The package knows no clock, cohort, attempt or network. The result does not depend on the order
// in which contributions arrive.
package aggregate

import (
	"github.com/zofl/zofl/coordinator/internal/late"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A Contribution is what a device sent to the open round.
type Contribution struct {
	Slot    uint32
	Claim   uint32 // samples
	Weight  uint32
	Loss    float32
	Sent    wire.Scalars // as they came; a vector's elements
	Values  []float32    // of Sent, as stages change them; nil for a vector
	Factor  float64      // by which they changed their length
	Control uint64       // record of its control variate, 0 for none
	Variate []float32
	Length  float64 // before it was mixed with others; 0: it was not
}

// A Stage takes the contributions to a round. After Add returns, no stage keeps the contribution or
// its memory.
type Stage interface {
	// Open forgets the round before. shape is the shape of the next round's contributions.
	Open(shape Shape)
	// Add passes a contribution on, changed or not, or holds it.
	Add(k *Contribution)
	// Close passes on the held contributions, because the round closes.
	Close()
}

// An End is the last stage. An End receives the contributions that the stages before pass on.
type End interface {
	Stage
	// Total returns the number of contributions that the End received, and the sum of their weights.
	Total() (count uint32, weight uint64)
	// Fill completes a record with the contributions that the End received.
	Fill(at *Closing, body *wire.Round)
}

// A Closing describes the round that closes.
type Closing struct {
	Plan   *plan.Plan
	N      uint64      // its record
	Number uint64      // of the round
	Late   *late.Batch // contributions to older records, which count in this one
	// Group returns the group of a slot.
	Group func(slot uint32) (uint32, bool)
	// Contributors and Population are only for plans whose records name them.
	Contributors func() []uint32
	Population   int

	Vector []byte // out: of a record that names one
}

// weight returns the weight of a record's contributions, including late ones.
func (at *Closing) weight(own uint64) uint64 { return own + at.Late.Weight }
