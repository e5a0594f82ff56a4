package engine

import (
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// requests queue what the run's policy asks for, as if an operator had asked for it.
type requests struct{ core *Core }

// begin queues what follows from the end of the log, the first time: the coordinator that stored
// the last record may have ended before the next one. It returns true.
func (r *requests) begin(c *Core) bool {
	if r.core == nil {
		r.core = c
		r.Moved(nil, wire.Record{})
	}
	return true
}

// Moved queues what follows from the log's last record.
func (r *requests) Moved([]byte, wire.Record) {
	c := r.core
	switch q := c.policy.Requests.Request(); {
	case q.Record != nil:
		c.queue.records = append(c.queue.records, q.Record)
	case q.End != nil && c.queue.end == nil:
		c.queue.end = q.End
	case q.Pause != "" && c.halt.Planned == nil:
		c.halt.Planned = &runlog.Pause{After: c.Rounds, Reason: q.Pause}
	}
}
