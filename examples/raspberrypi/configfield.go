package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A field is one field of the configuration.
type field struct {
	name     string
	fallback string // value if the file does not set it; empty: zero, or what meaning says
	meaning  string
	set      func(c *Config, value string) error
}

// fields lists all fields. Those marked (run) determine the model, so they are the same on
// all devices of a run.
var fields = []field{
	{"url", "nats://127.0.0.1:4222", "broker; for a cluster all, separated by commas",
		text(func(c *Config) *string { return &c.URL })},
	{"run", "rooms", "name of the run (run)", text(func(c *Config) *string { return &c.Run })},
	{"id", "", "name of this device, unlike any other's, for the whole run; default: the " +
		"host's name", text(func(c *Config) *string { return &c.ID })},
	{"ca", "", "PEM file of the authorities that sign the broker's certificate; default: " +
		"the system's", text(func(c *Config) *string { return &c.CA })},
	{"creds", "", "file with the user's NATS credentials",
		text(func(c *Config) *string { return &c.Creds })},
	{"secret", "", "file with the run key of a private run: the 32 bytes that zofl plan " +
		"--secret made; default: the run is not private",
		text(func(c *Config) *string { return &c.Secret })},
	{"plaintext", "no", "yes: connect to a broker on another machine without TLS",
		yes(func(c *Config) *bool { return &c.Plaintext })},
	{"state", "", "directory for the state that survives a power cut; default: systemd's " +
		"STATE_DIRECTORY", text(func(c *Config) *string { return &c.State })},
	{"source", "", "csv FILE, which may grow; replay FILE, once to its end; sysfs DIR, of " +
		"iio or hwmon", setSource},
	{"channel", "", "NAME and options, one line for each channel, in the same order on all " +
		"devices (run)", addChannel},
	{"period", "5m", "length of a slot, for which readings are averaged; it must divide " +
		"a day (run)", duration(time.Second, func(c *Config) *time.Duration { return &c.Period })},
	{"lags", "12", "past slots that a forecast uses (run)",
		number(1, 1000, func(c *Config) *int { return &c.Lags })},
	{"ahead", "6", "slots from the last reading to its forecast (run)",
		number(1, 1000, func(c *Config) *int { return &c.Ahead })},
	{"hidden", "16", "units of the hidden layer (run)",
		number(1, 1000, func(c *Config) *int { return &c.Hidden })},
	{"window", "4032", "slots kept: two weeks of 5 min",
		number(8, 1<<20, func(c *Config) *int { return &c.Window })},
	{"least", "288", "examples needed before the device joins",
		number(1, 1<<20, func(c *Config) *int { return &c.Least })},
	{"held_out", "0.2", "newest part of the window, used to measure and never to train",
		real(0, 0.9, func(c *Config) *float64 { return &c.HeldOut })},
	{"pace", "0s", "pause before the work of a round, to keep a device mostly idle; less than " +
		"the plan's deadline", duration(0, func(c *Config) *time.Duration { return &c.Pace })},
	{"keep", "10m", "time between saves of the window, long enough to spare flash",
		duration(time.Second, func(c *Config) *time.Duration { return &c.Keep })},
	{"report", "24h", "span of readings between reports on the forecasts' errors",
		duration(time.Second, func(c *Config) *time.Duration { return &c.Report })},
	{"anomaly", "8", "an error is an anomaly from this many standard deviations of recent errors",
		real(1, 1e6, func(c *Config) *float64 { return &c.Anomaly })},
	{"memory", "32", "MiB of memory that the agent tries to stay below, half of it for the " +
		"run's plan: one that needs more is refused; GOMEMLIMIT overrides the whole",
		whole(8, 1<<20, func(c *Config) *int64 { return &c.Memory })},
	{"speed", "0", "of a replay, as a multiple of real time; 0: without pauses",
		real(0, 1e9, func(c *Config) *float64 { return &c.Speed })},
	{"time", "time", "column of a CSV with the time, as 2026-01-31T12:00:00Z, 2026-01-31 " +
		"12:00:00 (UTC), or Unix seconds", text(func(c *Config) *string { return &c.TimeColumn })},
	{"sensor", "", "for sysfs: DIR is a pattern, and means the directory whose file called " +
		"name has this text", text(func(c *Config) *string { return &c.Name })},
}

func text(at func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		*at(c) = v
		return nil
	}
}

func yes(at func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, v string) error {
		if v != "yes" && v != "no" {
			return errors.New("write yes or no")
		}
		*at(c) = v == "yes"
		return nil
	}
}

func duration(least time.Duration, at func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < least {
			return fmt.Errorf("give a duration of %v or more, such as 30s or 5m", least)
		}
		*at(c) = d
		return nil
	}
}

func whole(low, high int64, at func(*Config) *int64) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < low || n > high {
			return fmt.Errorf("give a whole number from %d to %d", low, high)
		}
		*at(c) = n
		return nil
	}
}

func number(low, high int64, at func(*Config) *int) func(*Config, string) error {
	return func(c *Config, v string) error {
		var n int64
		err := whole(low, high, func(*Config) *int64 { return &n })(c, v)
		if err == nil {
			*at(c) = int(n)
		}
		return err
	}
}

func real(low, high float64, at func(*Config) *float64) func(*Config, string) error {
	return func(c *Config, v string) error {
		f, err := strconv.ParseFloat(v, 64)
		if err != nil || !(f >= low && f <= high) {
			return fmt.Errorf("give a number from %v to %v", low, high)
		}
		*at(c) = f
		return nil
	}
}

func setSource(c *Config, v string) error {
	kind, path, _ := strings.Cut(v, " ")
	path = strings.TrimSpace(path)
	if kind != "csv" && kind != "replay" && kind != "sysfs" || path == "" {
		return errors.New("write csv FILE, replay FILE or sysfs DIR")
	}
	c.Source = Source{kind, path}
	return nil
}

// addChannel adds a channel from "NAME center=20 scale=5 change=0.5 ...".
func addChannel(c *Config, v string) error {
	words := strings.Fields(v)
	if len(words) == 0 {
		return errors.New("begin with the channel's name")
	}
	ch := Channel{Name: words[0], From: words[0], Scale: 1, Factor: 1}
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		if err := ch.set(name, value); err != nil {
			return err
		}
	}
	if ch.Change == 0 {
		ch.Change = ch.Scale / 10
	}
	if ch.Noise == 0 {
		ch.Noise = ch.Change / 10
	}
	for _, other := range c.Channels {
		if other.Name == ch.Name {
			return errors.New("this channel exists already: name each once")
		}
	}
	c.Channels = append(c.Channels, ch)
	return nil
}

func (ch *Channel) set(name, value string) error {
	if name == "from" && value != "" {
		ch.From = value
		return nil
	}
	to := map[string]*float32{"center": &ch.Center, "scale": &ch.Scale, "change": &ch.Change,
		"noise": &ch.Noise}[name]
	f, err := strconv.ParseFloat(value, 64)
	positive := name == "scale" || name == "change" || name == "noise"
	switch {
	case to == nil && name != "factor":
		return fmt.Errorf("%s=%s is no option of a channel: choose center, scale, change, "+
			"noise, from or factor", name, value)
	case err != nil || math.Abs(f) > 1e12 || math.IsNaN(f):
		return fmt.Errorf("%s=%s is no number: give one, such as 0.5", name, value)
	case positive && f < 1e-12:
		return fmt.Errorf("%s=%s is not above 0: give a large deviation in the channel's unit",
			name, value)
	case name == "factor":
		ch.Factor = f
	default:
		*to = float32(f)
	}
	return nil
}
