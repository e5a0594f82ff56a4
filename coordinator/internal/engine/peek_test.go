package engine

import (
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// A Peek holds what a walk needs to know of a core to send messages that the core is likely to
// accept.
type Peek struct {
	Open, Pending          bool // a round is open; a record is on its way to the log
	Halted                 bool
	Scalars, Perturbations int // of a contribution to the open round
	Survey                 survey.Kind
	EvalN                  uint64
	EvalTip                wire.Tip
	Head                   wire.Announcement
	Controls               func(n uint64) (scalars int, ok bool)
	Group                  func(slot uint32) (group uint32, ok bool)
}

// Peek looks into a core.
func (c *Core) Peek() (p Peek) {
	r := &c.round
	p.Open, p.Pending, p.Halted = c.phase() == collecting, c.next.frame != nil, c.halted()
	p.Scalars, p.Perturbations, p.Survey = r.scalars, int(r.perturbations), r.survey
	p.EvalN, p.EvalTip = c.evaluation.N, c.evaluation.Tip
	p.Controls = c.controlScalars
	if c.policy.Groups != nil && c.policy.Groups.Names() {
		p.Group = c.policy.Stages.Groups.Of
	}
	if p.Open {
		p.Head = c.head()
		p.Head.Rest = c.asking(p.Head.Rest)
	}
	return p
}
