package day

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/zofl/zofl/plan"
)

// A Config says which day to simulate.
type Config struct {
	Seed    uint64        // determines the phones, their data and all events
	Devices int           // phones; 0: 500
	Length  time.Duration // virtual time, from midnight; 0: 24 h
	Every   time.Duration // virtual time that one Hour of the history covers; 0: 1 h
	Plan    *plan.Plan    // nil: NewPlan(Seed, Devices). Not transport=dense
	Fleet   *Fleet        // nil: Phones()
}

// A Fleet says how phones behave. Shares and probabilities are from 0 to 1.
type Fleet struct {
	// Present is the share of phones whose app runs, by the hour of the day.
	Present [24]float64
	// Session is the mean time that an app runs before its phone goes.
	Session time.Duration
	// Killed is the probability that a session ends by a kill, not by a clean stop.
	Killed float64

	// Outages is the mean number of times that a phone loses its radio in an hour; Outage is
	// the mean length. Silent is the probability that the phone does not notice.
	Outages float64
	Outage  time.Duration
	Silent  float64

	// Plugged is the probability that a session begins with the charger plugged in, by hour.
	Plugged [24]float64
	// Drain is the share of its battery that an unplugged phone loses in an hour. Sessions
	// begin with a level drawn uniformly from 0.1 to 1. A phone that is unplugged and below
	// Least declines every round.
	Drain, Least float64

	// Latency is the one-way latency of a phone's radio, Work the time of a loss evaluation.
	Latency, Work Spread
	// Biased makes slow phones hold higher digits than fast ones. Otherwise speed and data are
	// independent.
	Biased bool
}

// A Spread is a log-normal distribution over phones: half of the phones have a value below Median,
// and about two thirds have a value within a factor of exp(Sigma) of Median. Each time a phone's
// value is the phone's own value times a random factor from 0.75 to 1.5.
type Spread struct {
	Median time.Duration
	Sigma  float64
}

// Phones is a fleet of phones. Most phones run the app at night, on the charger. The mean length of
// a session is 40 min. A third of the phones take more than 17 s for the 11 evaluations of a round,
// and a tenth take more than 40 s.
func Phones() *Fleet {
	f := &Fleet{
		Session: 40 * time.Minute, Killed: 0.3,
		Outages: 1, Outage: 90 * time.Second, Silent: 0.3,
		Drain: 0.2, Least: 0.3,
		Latency: Spread{80 * time.Millisecond, 0.6}, Work: Spread{time.Second, 1},
		Biased: true,
	}
	for h := range f.Present {
		switch {
		case h < 6, h >= 22:
			f.Present[h], f.Plugged[h] = 0.55, 0.9
		case h < 9:
			f.Present[h], f.Plugged[h] = 0.35, 0.5
		case h < 18:
			f.Present[h], f.Plugged[h] = 0.15, 0.25
		default:
			f.Present[h], f.Plugged[h] = 0.3, 0.4
		}
	}
	return f
}

// withDefaults returns a config in which every field is set.
func (c Config) withDefaults() (Config, error) {
	c.Devices = cmp.Or(c.Devices, 500)
	if c.Length == 0 {
		c.Length = 24 * time.Hour
	}
	c.Every = cmp.Or(c.Every, time.Hour)
	if c.Fleet == nil {
		c.Fleet = Phones()
	}
	if c.Devices < 1 || c.Length < 0 || c.Every < time.Second {
		return c, fmt.Errorf("day: devices=%d, length=%v, every=%v: give at least 1 device, "+
			"no negative length, and at least 1 s", c.Devices, c.Length, c.Every)
	}
	if c.Plan == nil {
		plan, err := NewPlan(c.Seed, c.Devices)
		if err != nil {
			return c, err
		}
		c.Plan = plan
	}
	if c.Plan.Transport == plan.DenseVectors {
		return c, errors.New("day: transport=dense: choose mean or relay, the simulation " +
			"replays scalars only")
	}
	return c, nil
}

// draw returns the value of one phone.
func (s Spread) draw(rng *rand.Rand) time.Duration { return s.at(rng.NormFloat64()) }

// at returns the value that lies the given number of deviations above the median.
func (s Spread) at(deviations float64) time.Duration {
	return time.Duration(float64(s.Median) * math.Exp(s.Sigma*deviations))
}

// vary returns d times a random factor from 0.75 to 1.5.
func vary(d time.Duration, rng *rand.Rand) time.Duration {
	return time.Duration(float64(d) * (0.75 + 0.75*rng.Float64()))
}
