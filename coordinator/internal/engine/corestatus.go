package engine

import (
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan/dp"
	"github.com/zofl/zofl/wire/survey"
)

// Status returns a copy of the run's status.
func (c *Core) Status() report.Status {
	s := report.Status{
		Run:        c.Plan.Run,
		State:      c.state(),
		Reason:     c.why(),
		LogError:   c.next.trouble,
		End:        c.End,
		N:          c.N,
		Rounds:     c.Rounds,
		Epoch:      c.life.epoch,
		Members:    uint32(c.cohort.Roster.Stored),
		Present:    c.cohort.Crowd.Present(),
		Waits:      c.waitsText(),
		Loss:       c.watch.last.Loss,
		Evaluation: c.evaluation.last,
		Best:       c.bests.now,
		Counters:   c.counters,
		Digests:    c.votes.Reports(),
		SameID:     c.cohort.Crowd.Twins(c.cohort.Roster.IDs),
		Unused:     c.cohort.Crowd.UnusedOf(c.cohort.Roster.IDs),
		Unkept:     c.halt.unkept,
	}
	if c.End != nil {
		s.Present = 0
	}
	if c.watch.last.Contributors > 0 {
		s.Participation = c.cohort.Participation()
		s.Participation.Asked = max(c.watch.last.Asked, c.watch.asked)
		s.Participation.Counted = c.watch.last.Contributors
	}
	c.addPause(&s)
	if c.Plan.DPClip > 0 {
		s.Privacy, s.Planned = dp.Spent(&c.Plan, c.N), dp.Planned(&c.Plan)
	}
	if c.chain.Bounded() {
		c.addSuspects(&s)
	}
	if c.life.restarted {
		s.Unjudged = c.forgot()
	}
	if c.policy.Steps != nil {
		c.addAccused(&s)
	}
	if c.vectors != nil {
		s.Uploads, s.Counters.Evicted = uint32(c.vectors.Count()), c.vectors.Evicted
	}
	if c.cohort.Roster.Open {
		s.Members = uint32(min(c.cohort.Rate.Population, 1<<32-1))
	}
	if c.phase() == collecting {
		s.Phase, s.Attempt = c.round.phase, c.cohort.Attempt.Number
		if c.round.survey != survey.None {
			s.Survey = c.round.survey.NameIn(&c.Plan)
		}
		s.Asked, s.Contributions = c.cohort.Asked(), c.collected()
		if c.cohort.Roster.Open {
			s.Asked = c.cohort.AskedAbout()
		}
		s.Declines = c.cohort.Answers.Declines
	}
	if r := c.votes.reference; r.N > 0 {
		s.Reference = &report.Reference{N: r.N, Digest: r.Digest}
	}
	return s
}

// addPause adds the name of who paused the run, and the planned pause.
func (c *Core) addPause(s *report.Status) {
	if p := c.halt.Pause; p != nil {
		s.By = p.By
	}
	if p := c.halt.Planned; p != nil {
		s.PauseAfter = p.After
	}
	if c.halt.storing && s.Unkept == "" {
		s.Unkept = "the log has not answered yet"
	}
}

// Faulty is the number of dropped messages that no honest device sends.
func (c *Core) Faulty() uint64 { return c.counters.Faulty() }

func (c *Core) state() report.State {
	switch {
	case c.life.deposed:
		return report.Deposed
	case c.End != nil:
		return report.Ended
	case !c.life.started:
		return report.Waiting // Start may find that an earlier pause is over
	case c.halted() && (c.phase() != appending || c.next.trouble != ""):
		return report.Paused // a pausing run first waits until the log has its last record
	case c.phase() == collecting:
		return report.Open
	}
	return report.Waiting
}
