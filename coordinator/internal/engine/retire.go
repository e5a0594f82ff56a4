package engine

import (
	"fmt"

	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
)

// CheckRetire says why a device cannot be retired, nil if it can.
func (c *Core) CheckRetire(id string) error {
	switch _, ok := c.cohort.roster.Slots[id]; {
	case c.life.deposed:
		return runlog.ErrDeposed
	case c.cohort.roster.Open:
		return fmt.Errorf("%w: the roster is open and lists nobody: revoke the device's credentials",
			runlog.ErrNoMember)
	case !ok:
		return runlog.ErrNoMember
	}
	return nil
}

// retire hands the retirement to the log.
func (c *Core) retire(id string) {
	m, ok := c.cohort.member(id)
	if ok {
		c.emit(Output{Kind: OutRetire, ID: m.ID})
	}
}

// memberRetired handles that the log has stored a retirement, or could not.
func (c *Core) memberRetired(id string, err error) {
	m, ok := c.cohort.roster.Find(id)
	switch {
	case err != nil:
		c.emitEvent(report.Event{Kind: report.Refused, ID: id, Reason: err.Error()})
	case ok && !c.cohort.crowd.Members[m.Slot].Retired:
		c.setRetired(m)
		c.emitEvent(report.Event{Kind: report.Retired, ID: id, Members: c.cohort.crowd.Present()})
		c.excuse(m)
	}
}

func (c *Core) setRetired(m gather.Member) {
	c.cohort.crowd.Members[m.Slot].Retired = true
	c.cohort.crowd.Place(m.Slot, c.now)
	c.cohort.roster.Retired++
}

// loadRetired reads from the log which members are retired.
func (c *Core) loadRetired(ids []string) {
	for _, id := range ids {
		if m, ok := c.cohort.member(id); ok && !c.cohort.roster.Open {
			c.setRetired(m)
		}
	}
}
