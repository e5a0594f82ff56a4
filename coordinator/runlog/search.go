package runlog

import (
	"slices"

	"github.com/zofl/zofl/plan"
)

// A Search is what the end of a log tells of the values that devices look for.
type Search struct {
	Idle   bool   // the last record is a round: nothing has changed since
	Failed bool   // the last record is [NotFound]: devices looked for the step in vain
	Tries  uint64 // records since the last round, or since the log's beginning
}

// fieldMu is the number of mu among [plan.Fields].
const fieldMu = 12

// NotFound returns the change that a log has where devices found no step. The change leaves the
// plan as it is: mu has its value, and step is still to be found.
func NotFound(p *plan.Plan) *plan.Change {
	c := &plan.Change{Fields: []uint64{fieldMu, fieldStep}}
	c.Values.Mu = p.Mu
	return c
}

// isNotFound says whether a change of a plan is NotFound. A person who sets mu, and has devices
// look for the step, changes one of the two.
func isNotFound(p *plan.Plan, c *plan.Change) bool {
	return slices.Equal(c.Fields, []uint64{fieldMu, fieldStep}) && p.StepSize == 0 &&
		c.Values.StepSize == 0 && c.Values.Mu == p.Mu
}

// Search returns what the log's end tells.
func (p *Position) Search() Search {
	last := max(p.LastRound, p.Begins, 1)
	return Search{
		Idle:   p.N == p.LastRound,
		Failed: p.Failed,
		Tries:  max(p.N, last) - last,
	}
}
