package coordinator

import (
	"time"

	"github.com/zofl/zofl/coordinator/report"
)

// Devices returns the members, sorted by slot. A run with an open roster has no members. Any
// goroutine may call Devices.
func (c *Coordinator) Devices() []report.Device {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := func(ms uint64) time.Time { return c.began.Add(time.Duration(ms) * time.Millisecond) }
	list, times := c.core.Devices(c.now())
	for i, t := range times {
		d := &list[i]
		d.Latency = time.Duration(t.Latency * float64(time.Millisecond))
		if t.Seen > 0 {
			d.LastSeen = at(t.Seen)
		}
		d.Refused, d.Faulty = c.register.Offenders.Of(d.ID)
		if d.State == report.DeviceAway {
			d.Until = at(t.Until)
		}
	}
	return list
}
