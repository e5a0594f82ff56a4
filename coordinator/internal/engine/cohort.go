package engine

import (
	"fmt"

	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
)

// A cohort knows which members a run can ask, which of them answered, and which are present.
type cohort struct {
	roster  presence.Roster
	most    int // members of a listed roster
	crowd   presence.Crowd
	rate    gather.ResponseRate // of an open roster
	answers gather.Answers      // to the open record
	late    gather.Answers      // to the record before, for the yield
}

// newCohort returns the members of a log. None of them has answered yet.
func newCohort(p *plan.Plan, h *History) (c cohort, err error) {
	listed := p.Roster == plan.ListedRoster
	begun := h.Position.Rounds > 0 || h.Position.Point.N > 0
	if listed && begun && len(h.Members) == 0 && h.Base == nil {
		return c, fmt.Errorf("roster: %w: it is empty, and the log has rounds", runlog.ErrCorrupt)
	}
	c.most = plan.MaxMembers
	if c.roster, err = presence.NewRoster(!listed, h.Members); err != nil {
		return c, err
	}
	c.answers, c.late = gather.NewAnswers(listed), gather.NewAnswers(listed)
	c.answers.Grow(len(h.Members))
	c.crowd.Grow(len(c.roster.IDs), false)
	c.rate.Population = uint64(p.Members)
	return c, nil
}

// member returns the member with an id that takes part.
func (c *cohort) member(id string) (m gather.Member, ok bool) {
	m, ok = c.roster.Find(id)
	return m, ok && (c.roster.Open || !c.crowd.Members[m.Slot].Retired)
}

// contributed says whether a member has contributed to the open record.
func (c *cohort) contributed(m gather.Member) bool {
	return c.answers.Of(m)&gather.Contributed != 0
}

// next forgets the answers to the open record, except answers that may come late.
func (c *cohort) next() {
	c.roster.Waiting = nil
	c.answers, c.late = c.late, c.answers
	c.answers.Reset()
	c.answers.Grow(c.roster.Stored)
}

// members returns the number of members for a draw. It is 0 on an open roster, where the number is
// unknown.
func (c *cohort) members(sampled uint64) uint32 {
	if c.roster.Open {
		return 0
	}
	return uint32(sampled)
}
