package late

import (
	"slices"

	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/wire"
)

// Past holds the closed rounds whose contributors a coordinator knows.
//
// Invariants:
//  1. rounds ascend by record and by number.
//  2. Counted of a round has each member whose contribution to the round's record was accepted, on
//     time or late. The member stays in Counted, whatever happens to the contribution.
type Past struct {
	Listed bool // the roster is
	rounds []Round
	spare  []presence.Answers // of forgotten rounds, to be used again
}

// A Round is a round that a coordinator closed.
type Round struct {
	N, Number uint64   // its record and round
	Tip       wire.Tip // of record N-1
	Scalars   int      // of a contribution
	Asked     func(presence.Device) bool
	Counted   presence.Answers
}

// Find returns the round of record n, or nil if Past does not have that round.
func (p *Past) Find(n uint64) *Round {
	for i := range p.rounds {
		if p.rounds[i].N == n {
			return &p.rounds[i]
		}
	}
	return nil
}

// Add adds a round. The round's contributors are the contributors in counted.
func (p *Past) Add(r Round, counted *presence.Answers) {
	if n := len(p.spare); n > 0 {
		r.Counted, p.spare = p.spare[n-1], p.spare[:n-1]
	} else {
		r.Counted = presence.NewAnswers(p.Listed)
	}
	r.Counted.Copy(counted)
	p.rounds = append(p.rounds, r)
}

// Keep forgets the rounds for which keep returns false.
func (p *Past) Keep(keep func(n, number uint64) bool) {
	p.rounds = slices.DeleteFunc(p.rounds, func(r Round) bool {
		if keep(r.N, r.Number) {
			return false
		}
		r.Counted.Reset()
		p.spare = append(p.spare, r.Counted)
		return true
	})
}

// Knows says whether the round accepted a contribution of a member. members is the number of
// members of a listed roster.
func (r *Round) Knows(m presence.Device, members int) bool {
	r.Counted.Grow(members)
	return r.Counted.Of(m) != 0
}
