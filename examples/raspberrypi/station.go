package main

import (
	"math"
	"sync"
	"time"
)

// inputLimit bounds an input and a target, in the units of a channel's change and
// scale: a sensor that answers nonsense once must not answer for a week.
const inputLimit = 8

// A station is a device's readings, and examples made of them.
type station struct {
	cfg *Config
	shape
	day int64 // slots

	mu      sync.Mutex // guards the fields below
	window  *window
	collect *collector
}

func newStation(cfg *Config) *station {
	return &station{
		cfg: cfg, shape: cfg.shape(), day: int64(24 * time.Hour / cfg.Period),
		window:  newWindow(cfg.Period, cfg.Window, len(cfg.Channels)),
		collect: newCollector(len(cfg.Channels)),
	}
}

// A reading is what was read at a time, of each channel; NaN: nothing.
type reading struct {
	time   time.Time
	values []float64
}

// add adds a reading. Where that ends a slot which is new it says which.
func (s *station) add(r reading) (slot int64, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, means := s.collect.add(s.window.slot(r.time), r.values)
	return slot, means != nil && s.window.put(slot, means)
}

// behind says how long before the newest reading's slot a time is, at most 292 years; a
// clock that is not set yet is. It is negative of times after it, but 0 where the window
// has nothing that they could be too far from: the network may just have told the time.
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

// cover says whether readings from one slot to another are all that the window needs: they
// go on from what it has, or fill it, where what it has is forgotten if they do not reach
// back to it. In either case with a day to spare, and with what a clock is waited for.
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

// rewind forgets the readings from a time's slot on.
func (s *station) rewind(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot := s.window.slot(t)
	if s.collect.slot > slot {
		s.collect = newCollector(s.channels)
	}
	s.window.rewind(slot)
}

// An example is what the network sees at a slot, and the changes that came ahead
// slots later, in units of Channel.Change; missing: nobody knows.
type example struct {
	inputs, changes []float32
}

func (s *station) newExample() example {
	return example{make([]float32, s.inputs()), make([]float32, s.channels)}
}

// see sets inputs to what the network sees at a slot, and says whether it sees
// anything of it. A reading that is missing is like the last one. mu is held.
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

// habitDays are how many days ago it was as it will be, perhaps: what comes at a time is
// a device's own habit, which a model of all devices cannot know.
var habitDays = [...]int64{1, 7}

// habit is the change, in units, that came ahead after a slot; 0: nobody knows. mu is
// held.
func (s *station) habit(slot int64, c int) float32 {
	now, then := s.window.at(slot), s.window.at(slot+int64(s.cfg.Ahead))
	if now == nil || then == nil || isMissing(now[c]) || isMissing(then[c]) {
		return 0
	}
	return then[c] - now[c]
}

func limit(v float32) float32 { return min(max(v, -inputLimit), inputLimit) }

// fill makes the example of a slot, and says whether there is one. mu is held.
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

// split returns the first slot of the examples to train on, the first of those that
// are held out, and the end of them. The held-out ones are the newest, and nothing that is trained
// on reaches into them. mu is held.
func (s *station) split() (train, held, end int64) {
	ahead := int64(s.cfg.Ahead)
	train = s.window.first() + int64(s.lags) - 1
	end = max(train, s.window.last-ahead+1)
	held = end - int64(float64(end-train)*s.cfg.HeldOut)
	return train, held, end
}

// trained is the end of the slots to train on: what they forecast is no held-out
// slot's reading.
func (s *station) trained() (from, to int64) {
	train, held, end := s.split()
	if held < end {
		held = max(train, held-int64(s.cfg.Ahead))
	}
	return train, held
}

// examples is how many examples there are to train on. Slots of which a reading is
// missing are none: a device whose sensor never answers has nothing to say.
func (s *station) examples() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.window.held == 0 {
		return 0
	}
	n := 0
	for from, to := s.trained(); from < to; from++ {
		if s.known(from) {
			n++
		}
	}
	return n
}

// known says whether fill makes an example of a slot. mu is held.
func (s *station) known(slot int64) bool {
	now, then := s.window.at(slot), s.window.at(slot+int64(s.cfg.Ahead))
	for c := range min(len(now), len(then)) {
		if !isMissing(now[c]) && !isMissing(then[c]) {
			return true
		}
	}
	return false
}
