package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zofl/zofl/examples/sensor/internal/notice"
	"github.com/zofl/zofl/plan"
)

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

// nothing is the value of a field that has only options.
func nothing(options string) func(*Config, string) error {
	return func(*Config, string) error {
		return fmt.Errorf("write NAME=VALUE, with the names %s", options)
	}
}

func setSource(c *Config, v string) error {
	kind, path, _ := strings.Cut(v, " ")
	path = strings.TrimSpace(path)
	switch {
	case (kind == "csv" || kind == "replay" || kind == "sysfs") && path != "":
	case kind == "mqtt" && path == "":
	default:
		return errors.New("write csv FILE, replay FILE, sysfs DIR or mqtt")
	}
	c.Source.Kind, c.Source.Path = kind, path
	return nil
}

func addOutput(c *Config, v string) error {
	kind, to, _ := strings.Cut(v, " ")
	to = strings.TrimSpace(to)
	if kind != "json" && kind != "page" || to == "" {
		return errors.New("write json FILE, json - or page HOST:PORT")
	}
	c.Outputs = append(c.Outputs, Output{kind, to})
	return nil
}

// addChannel adds a channel from "NAME center=20 scale=5 change=0.5 ...".
func addChannel(c *Config, v string) error {
	words := strings.Fields(v)
	if len(words) == 0 {
		return errors.New("begin with the channel's name")
	}
	if err := plan.CheckName(words[0]); err != nil { // topics, metrics and pages have it
		return fmt.Errorf("name it otherwise: %w", err)
	}
	ch := Channel{Name: words[0], From: words[0], Scale: 1, Factor: 1,
		Unit: notice.Units[words[0]]}
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		if err := ch.set(name, value); err != nil {
			return err
		}
	}
	ch.Change = cmp.Or(ch.Change, ch.Scale/10)
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
	switch {
	case name == "from" && value != "":
		ch.From = value
		return nil
	case name == "unit" && utf8.ValidString(value):
		ch.Unit = value
		return nil
	}
	to := map[string]*float32{"center": &ch.Center, "scale": &ch.Scale, "change": &ch.Change,
		"noise": &ch.Noise}[name]
	f, err := strconv.ParseFloat(value, 64)
	positive := name == "scale" || name == "change" || name == "noise"
	switch {
	case to == nil && name != "factor":
		return fmt.Errorf("%s=%s is no option of a channel: choose center, scale, change, "+
			"noise, from, factor or unit", name, value)
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
