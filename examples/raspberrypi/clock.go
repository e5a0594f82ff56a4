package main

import (
	"log/slog"
	"time"
)

// A clock says which readings' times can be believed. A Pi has no clock of its own: it
// begins in the past until the network tells it the time; and a logger's clock, or a
// damaged row, may say a time that is years ahead, after which nothing would be new.
type clock struct {
	station *station
	log     *slog.Logger
	late    bool  // a time that is behind was told
	slots   int   // of times that were behind, one after another
	slot    int64 // the newest of them
	far     bool  // the time before was far ahead
}

// clockSlots is after how many slots a clock that is behind the window is believed. Of
// one that goes back an hour, as in autumn where it shows local time, there are as many
// in periods of 5 minutes.
const clockSlots = 12

// believe says whether a reading of a time is to be taken. One so far ahead that the
// window would be empty but for it needs another that is. One that is behind is not
// taken; if such are all that come for clockSlots slots, it was the window that was
// wrong, and what it has of that time and later is forgotten.
func (c *clock) believe(t time.Time) bool {
	d := c.station.behind(t)
	window := time.Duration(c.station.cfg.Window) * c.station.cfg.Period
	if far := d < -window; far != c.far {
		if c.far = far; far {
			c.log.Warn("a reading is far ahead of the others: waiting for another", "at", t, "ahead", -d)
			return false
		}
	}
	if d <= c.station.cfg.Period { // clocks are set back a little now and then
		c.late, c.slots = false, 0
		return true
	}
	if !c.late {
		c.log.Warn("the clock is behind the readings: waiting for it", "behind", d)
		c.late = true
	}
	if slot := c.station.window.slot(t); c.slots == 0 || slot != c.slot {
		c.slots, c.slot = c.slots+1, slot
	}
	if c.slots <= clockSlots {
		return false
	}
	c.log.Warn("the clock stays behind the readings: forgetting those that came later", "behind", d)
	c.station.rewind(t)
	c.late, c.slots = false, 0
	return true
}
