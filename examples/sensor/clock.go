package main

import (
	"log/slog"
	"time"
)

// A clock decides which readings' times to trust. A Pi has no battery-backed clock: it
// starts in the past until the network tells it the time. A logger's clock or a damaged row
// may give a time that is years ahead; if that were trusted, every later reading would look
// old.
type clock struct {
	station *station
	log     *slog.Logger
	told    bool  // a time that does not fit was logged
	slots   int   // consecutive slots whose times do not fit
	slot    int64 // the newest of these slots
}

// clockSlots is the number of slots after which a clock that does not fit the window is
// trusted. With 5-minute periods, 12 slots also cover a logger's clock that shows local
// time and goes back an hour in autumn.
const clockSlots = 12

// believe decides whether to take a reading with this time. It refuses a time that is
// behind the newest reading, and one so far ahead that the window would keep nothing else.
// But if only such times come for more than clockSlots slots, the window was wrong: then it
// drops the readings from that time on. With again set the reading may have been taken
// before, so it may be behind.
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
