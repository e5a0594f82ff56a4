package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
)

// Retire retires a member for good: no round waits for it, its replies are dropped, and it may not
// join again. Its slot stays its own. Revoke its credentials too.
//
// Retire returns before the log has stored it; the event Retired tells that it has. The error
// matches [runlog.ErrNoMember] or [runlog.ErrDeposed].
func (c *Coordinator) Retire(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch _, ok := c.core.roster.slots[id]; {
	case c.core.deposed:
		return fmt.Errorf("coordinator: retire %q: %w", id, runlog.ErrDeposed)
	case c.core.roster.open:
		return fmt.Errorf("coordinator: retire %q: %w: the roster is open and lists nobody: revoke "+
			"the device's credentials", id, runlog.ErrNoMember)
	case !ok:
		return fmt.Errorf("coordinator: retire %q: %w", id, runlog.ErrNoMember)
	}
	c.enqueue(input{kind: inRetire, id: id})
	return nil
}

// retire hands the retirement to the log.
func (c *core) retire(id string) {
	m, ok := c.member(id)
	if ok {
		c.emit(output{kind: outRetire, id: m.ID})
	}
}

// memberRetired handles that the log has stored a retirement, or could not.
func (c *core) memberRetired(id string, err error) {
	m, ok := c.roster.find(id)
	switch {
	case err != nil:
		c.emitEvent(report.Event{Kind: report.Refused, ID: id, Reason: err.Error()})
	case ok && !c.crowd.members[m.Slot].retired:
		c.setRetired(m)
		c.emitEvent(report.Event{Kind: report.Retired, ID: id, Members: c.crowd.present()})
		c.excuse(m)
	}
}

func (c *core) setRetired(m gather.Member) {
	c.crowd.members[m.Slot].retired = true
	c.crowd.place(m.Slot, c.now)
	c.roster.retired++
}

// loadRetired notes who is retired in the log.
func (c *core) loadRetired(log runlog.Log) error {
	ids, err := log.Retired()
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	for _, id := range ids {
		if m, ok := c.member(id); ok && !c.roster.open {
			c.setRetired(m)
		}
	}
	return nil
}

// retireMember stores a retirement.
func (c *Coordinator) retireMember(ctx context.Context, id string) []output {
	if c.isLost() {
		return c.step(input{kind: inDeposed})
	}
	limited, cancel := c.limit(ctx)
	defer cancel()
	in := input{kind: inRetired, id: id, err: c.cfg.Log.Retire(limited, id)}
	if errors.Is(in.err, runlog.ErrDeposed) {
		in.kind = inDeposed
	}
	return c.step(in)
}
