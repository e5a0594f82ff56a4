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
	told    bool  // that a time does not fit
	slots   int   // of times that do not, one after another
	slot    int64 // the newest of them
}

// clockSlots is after how many slots a clock that does not fit the window is believed.
// Of one that goes back an hour, as in autumn where it shows local time, there are as
// many in periods of 5 minutes.
const clockSlots = 12

// believe says whether a reading of a time is to be taken. One that is behind is not, nor
// one so far ahead that the window would be empty but for it. If such are all that come
// for clockSlots slots, it was the window that was wrong: what it has of that time and
// later is forgotten. again: the reading may be one that was taken before, so that it may
// be behind.
func (c *clock) believe(t time.Time, again bool) bool {
	d := c.station.behind(t)
	behind := d > c.station.cfg.Period // clocks are set back a little now and then
	ahead := d < -time.Duration(c.station.cfg.Window)*c.station.cfg.Period
	if !ahead && (!behind || again) {
		c.told, c.slots = false, 0
		return true
	}
	if !c.told {
		c.log.Warn("the clock does not fit the readings: waiting for it", "at", t, "newest", t.Add(d))
		c.told = true
	}
	if slot := c.station.window.slot(t); c.slots == 0 || slot != c.slot {
		c.slots, c.slot = c.slots+1, slot
	}
	if c.slots <= clockSlots {
		return false
	}
	if behind {
		c.log.Warn("the clock stays behind the readings: forgetting those that came later", "behind", d)
		c.station.rewind(t)
	}
	c.told, c.slots = false, 0
	return true
}
