package engine

import (
	"github.com/zofl/zofl/coordinator/internal/aggregate"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A transport is the part of a round that depends on the plan's transport: the numbers in a
// contribution, and what the record holds of all contributions. No change of a plan can change its
// transport, so New chooses the transport once.
type transport interface {
	// size returns how many numbers a contribution to the open round has.
	size(c *Core) int
	// unsummed says whether a record has a term for each contributor.
	unsummed() bool
}

func transportOf(p *plan.Plan) transport {
	switch p.Transport {
	case plan.Relay:
		return relayTransport{}
	case plan.DenseVectors:
		return denseTransport{}
	}
	return meanTransport{}
}

// SendsVectors says whether contributions are vectors.
func (c *Core) SendsVectors() bool { return c.vectors != nil }

// scalarSize returns K*P, or P in the first of two phases.
func scalarSize(c *Core) int { return c.steps() * int(c.round.perturbations) }

// steps returns the number of local steps whose scalars the open round asks for. In the first of
// two phases, devices probe once and take no step.
func (c *Core) steps() int {
	if c.round.phase == 1 {
		return 1
	}
	return int(c.Plan.Steps)
}

// meanTransport: a record has one term, the aggregate of all contributions, and terms of older
// records for their control variates.
type meanTransport struct{}

func (meanTransport) size(c *Core) int { return scalarSize(c) }
func (meanTransport) unsummed() bool   { return false }

// relayTransport: a record has a term for each contributor, ascending by slot.
type relayTransport struct{}

func (relayTransport) size(c *Core) int { return scalarSize(c) }
func (relayTransport) unsummed() bool   { return true }

// denseTransport: a record has the digest of the mean of the contributors' vectors, and no terms.
type denseTransport struct{}

func (denseTransport) size(c *Core) int { return int(c.Plan.Object(c.round.phase)) }
func (denseTransport) unsummed() bool   { return false }

// fill completes the record of the round that closes.
func (c *Core) fill(body *wire.Round) {
	at := aggregate.Closing{Plan: &c.Plan, N: c.N + 1, Number: c.Rounds + 1,
		Late: &c.late.Joining, Group: c.groupOf, Contributors: c.cohort.Answers.Contributors,
		Population: c.cohort.Roster.Stored}
	if c.chain.End.Fill(&at, body); at.Vector != nil {
		name := runlog.NameOf(at.N, c.life.epoch, at.Vector)
		c.next.object = &runlog.Object{Name: name, Data: at.Vector}
		body.Object = c.next.object.Name.Digest[:]
	}
	c.heed()
}
