package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A field is one of the configuration.
type field struct {
	name     string
	fallback string // what it is where the file does not say; empty: the zero, or what its meaning says
	meaning  string
	set      func(c *Config, value string) error
}

// fields are all there are. Those marked (run) are the model's, the same on all
// devices of a run.
var fields = []field{
	{"url", "nats://127.0.0.1:4222", "broker; all of a cluster, with commas", text(func(c *Config) *string { return &c.URL })},
	{"run", "rooms", "name of the run (run)", text(func(c *Config) *string { return &c.Run })},
	{"id", "", "name of this device among the others, for ever; else the host's name", text(func(c *Config) *string { return &c.ID })},
	{"ca", "", "file with the authorities that sign the broker's certificate (PEM); else the system's", text(func(c *Config) *string { return &c.CA })},
	{"creds", "", "file with the user's NATS credentials", text(func(c *Config) *string { return &c.Creds })},
	{"secret", "", "file with the run key of a private run: the 32 bytes that zofl plan --secret made; else the run is not private", text(func(c *Config) *string { return &c.Secret })},
	{"plaintext", "no", "yes: talk to a broker elsewhere without TLS", yes(func(c *Config) *bool { return &c.Plaintext })},
	{"state", "", "directory of what survives a power cut; else systemd's STATE_DIRECTORY", text(func(c *Config) *string { return &c.State })},
	{"source", "", "csv FILE, which may grow; replay FILE, to its end; sysfs DIR, of iio or hwmon", setSource},
	{"channel", "", "NAME and options, one line for each, in the same order everywhere (run)", addChannel},
	{"period", "5m", "of the window's slots, whose readings are means; a part of a day (run)", duration(time.Second, func(c *Config) *time.Duration { return &c.Period })},
	{"lags", "12", "slots that a forecast looks at (run)", number(1, 1000, func(c *Config) *int { return &c.Lags })},
	{"ahead", "6", "slots that a forecast looks ahead (run)", number(1, 1000, func(c *Config) *int { return &c.Ahead })},
	{"hidden", "16", "units of the hidden layer (run)", number(1, 1000, func(c *Config) *int { return &c.Hidden })},
	{"window", "4032", "slots that are kept: two weeks of 5 min", number(8, 1<<20, func(c *Config) *int { return &c.Window })},
	{"least", "288", "slots to train on before the device joins", number(1, 1<<20, func(c *Config) *int { return &c.Least })},
	{"held_out", "0.2", "part of the window that is for measuring only, the newest", real(0, 0.9, func(c *Config) *float64 { return &c.HeldOut })},
	{"pace", "0s", "pause before a round's work, so that a device is not always busy; less than the plan's deadline", duration(0, func(c *Config) *time.Duration { return &c.Pace })},
	{"keep", "10m", "between saves of the window; the disk is flash", duration(time.Second, func(c *Config) *time.Duration { return &c.Keep })},
	{"report", "24h", "of readings, between reports of how good forecasts were", duration(time.Second, func(c *Config) *time.Duration { return &c.Report })},
	{"anomaly", "8", "deviations of recent errors that are an anomaly", real(1, 1e6, func(c *Config) *float64 { return &c.Anomaly })},
	{"memory", "32", "MiB that the agent tries to stay within; GOMEMLIMIT goes before", whole(8, 1<<20, func(c *Config) *int64 { return &c.Memory })},
	{"speed", "0", "of a replay: how many times faster than it was; 0: at once", real(0, 1e9, func(c *Config) *float64 { return &c.Speed })},
	{"time", "time", "column of a CSV with the time, of the form 2026-01-31T12:00:00Z, 2026-01-31 12:00:00 (UTC), or Unix seconds", text(func(c *Config) *string { return &c.TimeColumn })},
	{"sensor", "", "of sysfs: DIR is a pattern, of which the directory counts whose file name says this", text(func(c *Config) *string { return &c.Name })},
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
			return errors.New("say yes or no")
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

// addChannel adds "NAME center=20 scale=5 change=0.5 ...".
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
			return errors.New("this channel is there already: name each once")
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
	to := map[string]*float32{"center": &ch.Center, "scale": &ch.Scale, "change": &ch.Change, "noise": &ch.Noise}[name]
	f, err := strconv.ParseFloat(value, 64)
	positive := name == "scale" || name == "change" || name == "noise"
	switch {
	case to == nil && name != "factor":
		return fmt.Errorf("%s=%s is no option of a channel: choose center, scale, change, noise, from or factor", name, value)
	case err != nil || math.Abs(f) > 1e12 || math.IsNaN(f):
		return fmt.Errorf("%s=%s is no number: write one, such as 0.5", name, value)
	case positive && f < 1e-12:
		return fmt.Errorf("%s=%s is not above 0: give what is much in the channel's units", name, value)
	case name == "factor":
		ch.Factor = f
	default:
		*to = float32(f)
	}
	return nil
}
