package main

import (
	"math"
	"sync"
	"time"

	"github.com/zofl/zofl/examples/sensor/internal/config"
)

// inputLimit limits inputs and targets, in units of a channel's scale or change: one wrong value
// from a sensor must not distort the forecasts for a week.
const inputLimit = 8

// A station holds a device's readings, and makes examples from them.
type station struct {
	cfg *config.Config
	shape
	day int64 // slots a day

	mu      sync.Mutex // guards the fields below
	window  *window
	collect *collector
}

func newStation(cfg *config.Config) *station {
	return &station{
		cfg: cfg, shape: shapeOf(cfg), day: int64(24 * time.Hour / cfg.Period),
		window:  newWindow(cfg.Period, cfg.Window, len(cfg.Channels)),
		collect: newCollector(len(cfg.Channels)),
	}
}

// A reading has the value of each channel at a time; NaN: none.
type reading struct {
	time   time.Time
	values []float64
}

// add adds a reading. If that ends a slot that is new, it returns the slot.
func (s *station) add(r reading) (slot int64, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, means := s.collect.add(s.window.slot(r.time), r.values)
	return slot, means != nil && s.window.put(slot, means)
}

// behind returns how long a time is before the newest reading's slot, at most 292 years, as with
// a clock that is not set. The result is negative for later times. If the window has no reading
// to compare with, behind returns 0.
func (s *station) behind(t time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	newest := s.window.last
	switch {
	case s.window.held == 0 && (!s.collect.begun || s.window.slot(t) > s.collect.slot):
		return 0
	case s.window.held == 0 || s.collect.begun && s.collect.slot > newest:
		newest = s.collect.slot
	}
	return s.window.time(newest).Sub(t)
}

// cover reports whether readings from slot first to slot last are all that the window needs:
// either the new readings continue the window's readings, or they fill the window. If the new
// readings fill the window and do not reach back to the window's readings, cover drops the
// window's readings. In both cases cover requires a margin: a day, or the time that the clock
// waits before it trusts other times.
func (s *station) cover(first, last int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, spare := s.window, max(s.day, 2*clockSlots)
	if w.held > 0 && first < w.last-spare {
		return last >= w.last
	}
	full := last-first >= int64(w.slots)+spare
	if full && w.last < first {
		w.clear()
	}
	return full
}

// rewind drops the readings from a time's slot on.
func (s *station) rewind(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot := s.window.slot(t)
	if s.collect.slot > slot {
		s.collect = newCollector(s.channels)
	}
	s.window.rewind(slot)
}

// An example is the input of the network at a slot, and the changes within the following ahead
// slots, in units of Channel.Change; missing if unknown.
type example struct {
	inputs, changes []float32
}

func (s *station) newExample() example {
	return example{make([]float32, s.inputs()), make([]float32, s.channels)}
}

// see sets inputs to the network's input at a slot, and reports whether there is any reading. A
// missing earlier reading counts as equal to the last one. mu is held.
func (s *station) see(slot int64, inputs []float32) bool {
	now, any := s.window.at(slot), false
	for c := range s.channels {
		ch, u := &s.cfg.Channels[c], inputs[c*s.sights():(c+1)*s.sights()]
		clear(u)
		if now == nil || isMissing(now[c]) {
			continue
		}
		any = true
		u[0] = limit((now[c] - ch.Center) / ch.Scale)
		for j := 1; j < s.lags; j++ {
			if then := s.window.at(slot - int64(j)); then != nil && !isMissing(then[c]) {
				u[j] = limit((now[c] - then[c]) / ch.Change)
			}
		}
		for i, days := range habitDays {
			u[s.lags+i] = limit(s.habit(slot-days*s.day, c) / ch.Change)
		}
	}
	day := s.window.time(slot)
	turn := 2 * math.Pi * float64(day.Hour()*60+day.Minute()) / (24 * 60)
	inputs[len(inputs)-2], inputs[len(inputs)-1] = float32(math.Sin(turn)), float32(math.Cos(turn))
	return any
}

// habitDays are the days ago whose changes are inputs: what happens at a time of day is a
// device's own habit, which a model of all devices cannot know.
var habitDays = [...]int64{1, 7}

// habit returns the change, in the channel's unit, within ahead slots after a slot; 0 if it
// is unknown. mu is held.
func (s *station) habit(slot int64, c int) float32 {
	now, then := s.window.at(slot), s.window.at(slot+int64(s.cfg.Ahead))
	if now == nil || then == nil || isMissing(now[c]) || isMissing(then[c]) {
		return 0
	}
	return then[c] - now[c]
}

func limit(v float32) float32 { return min(max(v, -inputLimit), inputLimit) }

// fill makes the example of a slot, and reports whether there is one. mu is held.
func (s *station) fill(slot int64, e example) bool {
	now, then := s.window.at(slot), s.window.at(slot+int64(s.cfg.Ahead))
	if now == nil || then == nil {
		return false
	}
	any := false
	for c := range s.channels {
		e.changes[c] = missing
		if !isMissing(now[c]) && !isMissing(then[c]) {
			e.changes[c] = limit((then[c] - now[c]) / s.cfg.Channels[c].Change)
			any = true
		}
	}
	return any && s.see(slot, e.inputs)
}

// split returns the first slot to train on, the first held-out slot and the end of the held-out
// slots. The held-out slots are the newest slots, and no training example uses their readings. mu
// is held.
func (s *station) split() (train, held, end int64) {
	ahead := int64(s.cfg.Ahead)
	train = s.window.first() + int64(s.lags) - 1
	end = max(train, s.window.last-ahead+1)
	held = end - int64(float64(end-train)*s.cfg.HeldOut)
	return train, held, end
}

// trainingSlots returns the range of slots to train on: it ends early enough that no training
// target is a held-out reading.
func (s *station) trainingSlots() (from, to int64) {
	train, held, end := s.split()
	if held < end {
		held = max(train, held-int64(s.cfg.Ahead))
	}
	return train, held
}

// examples returns how many examples there are to train on. A slot with a missing reading
// is no example, so a device whose sensor never answers has none.
func (s *station) examples() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.window.held == 0 {
		return 0
	}
	n := 0
	for from, to := s.trainingSlots(); from < to; from++ {
		if s.known(from) {
			n++
		}
	}
	return n
}

// known reports whether fill makes an example of a slot. mu is held.
func (s *station) known(slot int64) bool {
	now, then := s.window.at(slot), s.window.at(slot+int64(s.cfg.Ahead))
	for c := range min(len(now), len(then)) {
		if !isMissing(now[c]) && !isMissing(then[c]) {
			return true
		}
	}
	return false
}
