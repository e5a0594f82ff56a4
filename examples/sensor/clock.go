package main

import (
	"log/slog"
	"time"
)

// A clock decides which times of readings to trust. A Raspberry Pi has no battery-backed clock:
// after a start its time is in the past, until the network tells it the time. A logger's clock or
// a damaged row may give a time that is years ahead. If the agent trusted such a time, every
// later reading would look old.
type clock struct {
	station *station
	log     *slog.Logger
	told    bool  // a time that does not fit was logged
	slots   int   // consecutive slots whose times do not fit
	slot    int64 // the newest of these slots
}

// clockSlots is the number of slots after which the agent trusts times that do not fit the
// window. With 5-minute periods, 12 slots also cover a logger's clock that shows local time and
// goes back an hour in autumn.
const clockSlots = 12

// believe decides whether to take a reading with this time. believe refuses a time before the
// newest reading, and a time so far ahead that the window would drop all its other readings. But
// if only such times come for more than clockSlots slots, the window was wrong: then believe
// drops the window's readings from that time on. If again is set, the source may read a reading a
// second time, so believe accepts a time before the newest reading.
func (c *clock) believe(t time.Time, again bool) bool {
	d := c.station.behind(t)
	behind := d > c.station.cfg.Period // clocks are set back a little now and then
	ahead := d < -time.Duration(c.station.cfg.Window)*c.station.cfg.Period
	if !ahead && (!behind || again) {
		c.told, c.slots = false, 0
		return true
	}
	if !c.told {
		c.log.Warn("the clock does not fit the readings: waiting until it does", "at", t,
			"newest", t.Add(d))
		c.told = true
	}
	if slot := c.station.window.slot(t); c.slots == 0 || slot != c.slot {
		c.slots, c.slot = c.slots+1, slot
	}
	if c.slots <= clockSlots {
		return false
	}
	if behind {
		c.log.Warn("the clock stays behind the readings: dropping the later ones", "behind", d)
		c.station.rewind(t)
	}
	c.told, c.slots = false, 0
	return true
}
