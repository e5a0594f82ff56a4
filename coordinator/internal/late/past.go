package late

import (
	"slices"

	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/wire"
)

// Past is the closed rounds whose contributors a coordinator knows.
//
// Invariants:
//  1. rounds ascend by record and by number.
//  2. A member is in a round's Counted once a contribution of its to that record was taken, on time
//     or late. It stays there, whatever becomes of that contribution.
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

// Find returns the round of record n, nil if it is not known.
func (p *Past) Find(n uint64) *Round {
	for i := range p.rounds {
		if p.rounds[i].N == n {
			return &p.rounds[i]
		}
	}
	return nil
}

// Add adds a round. Its contributors are those that counted holds.
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

// Knows says whether the round took a contribution of a member. members is how many a listed roster
// has.
func (r *Round) Knows(m presence.Device, members int) bool {
	r.Counted.Grow(members)
	return r.Counted.Of(m) != 0
}
