package engine

import (
	"fmt"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
)

// CheckRetire says why the coordinator cannot retire a device, or returns nil if it can.
func (c *Core) CheckRetire(id string) error {
	switch _, ok := c.cohort.Roster.Slots[id]; {
	case c.life.deposed:
		return runlog.ErrDeposed
	case c.cohort.Roster.Open:
		return fmt.Errorf("%w: the roster is open and lists nobody: revoke the device's credentials",
			runlog.ErrNoMember)
	case !ok:
		return runlog.ErrNoMember
	}
	return nil
}

// retire hands the retirement to the log.
func (c *Core) retire(id string) {
	m, ok := c.cohort.Member(id)
	if ok {
		c.emit(Output{Kind: OutRetire, ID: m.ID})
	}
}

// memberRetired handles that the log has stored a retirement, or could not store it.
func (c *Core) memberRetired(id string, err error) {
	m, ok := c.cohort.Roster.Find(id)
	switch {
	case err != nil:
		c.emitEvent(report.Event{Kind: report.Refused, ID: id, Reason: err.Error()})
	case ok && !c.cohort.Crowd.Members[m.Slot].Retired:
		c.cohort.Retire(m, c.now)
		c.emitEvent(report.Event{Kind: report.Retired, ID: id, Members: c.cohort.Crowd.Present()})
		c.excuse(m)
	}
}
