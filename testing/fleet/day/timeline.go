package day

import (
	"math"
	"math/rand/v2"
	"time"
)

// A session is a time in which a phone's app runs.
type session struct {
	from, to time.Duration // since midnight
	killed   bool          // it ends by a kill
	plugged  bool
	level    float64 // of the battery, when it begins
	outages  []outage
}

// An outage is a time without radio.
type outage struct {
	from, to time.Duration
	silent   bool
}

// shortest is the least length of a session and of the pause between two.
const shortest = time.Second

// timeline draws the sessions of a phone up to a moment.
func (f *Fleet) timeline(rng *rand.Rand, length time.Duration) (sessions []session) {
	at := time.Duration(0)
	running := rng.Float64() < f.Present[0]
	for at < length {
		if !running {
			at = f.awaken(rng, at, length) + shortest
		}
		running = false
		if at >= length {
			break
		}
		s := f.session(rng, at)
		sessions = append(sessions, s)
		at = s.to
	}
	return sessions
}

// awaken draws when a phone that went at a moment comes back. Phones come at present/(1-present)
// times the rate at which phones go, so that the share of phones present is that of the hour.
func (f *Fleet) awaken(rng *rand.Rand, at, length time.Duration) time.Duration {
	left := rng.ExpFloat64()
	for at < length {
		p := f.Present[hourOf(at)]
		rate := p / math.Max(1-p, 1e-3) / f.Session.Hours()
		until := at.Truncate(time.Hour) + time.Hour
		if used := rate * (until - at).Hours(); used < left {
			left -= used
			at = until
			continue
		}
		return at + hours(left/rate)
	}
	return length
}

func (f *Fleet) session(rng *rand.Rand, from time.Duration) session {
	s := session{from: from, killed: rng.Float64() < f.Killed}
	s.to = from + shortest + hours(rng.ExpFloat64()*f.Session.Hours())
	s.plugged = rng.Float64() < f.Plugged[hourOf(from)]
	s.level = 0.1 + 0.9*rng.Float64()
	for at := from; f.Outages > 0; {
		at += shortest + hours(rng.ExpFloat64()/f.Outages)
		to := at + shortest + hours(rng.ExpFloat64()*f.Outage.Hours())
		if to >= s.to {
			break
		}
		s.outages = append(s.outages, outage{at, to, rng.Float64() < f.Silent})
		at = to
	}
	return s
}

func hourOf(at time.Duration) int { return int(at/time.Hour) % 24 }

func hours(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }
