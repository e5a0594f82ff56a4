// Package config reads the agent's configuration, and the secrets that it names.
package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/zofl/zofl/internal/textfile"
)

// A Config is the content of the agent's file. The fields variable explains each field.
type Config struct {
	URL, Run, ID  string
	Plaintext     bool
	Creds         string      // file
	Enrolled      Credentials // content of Creds
	Secret        string      // file with the run key
	RunKey        []byte      // content of Secret
	State         string
	Source        Source
	Channels      []Channel
	Period        time.Duration
	Lags, Ahead   int
	Hidden        int
	Window, Least int
	HeldOut       float64 // newest part of the window, used to measure and never to train
	Pace          time.Duration
	Report        time.Duration // span of readings between reports on the forecasts' errors
	Anomaly       float64
	Outputs       []Output
	MQTT          MQTT
}

// A Source says where readings come from.
type Source struct {
	Kind, Path string  // Kind: csv, replay, sysfs, mqtt
	Speed      float64 // of a replay, as a multiple of real time; 0: without pauses
	Time       string  // column of a CSV
	Name       string  // of a sensor of sysfs: Path is a pattern
}

// An Output says where forecasts go.
type Output struct {
	Kind, To string // json: a file, or - for standard output; page: an address
}

// An MQTT is a broker of the household: of forecasts, and of readings if the source is mqtt.
type MQTT struct {
	URL, User, Password, CA string // Password and CA are files
	Plaintext               bool
	Prefix                  string // first level of the topics
	Discovery               string // Home Assistant's prefix; no: none
}

// A Channel is one quantity that a sensor measures. Name, Center, Scale and Change belong
// to the run: the same numbers must mean the same on every device.
type Channel struct {
	Name   string
	Center float32 // a usual value
	Scale  float32 // a large deviation from Center
	Change float32 // a large change within a forecast
	Noise  float32 // the smallest error that may count as an anomaly
	Unit   string  // for people
	From   string  // column of a CSV, attribute of sysfs, or TOPIC#FIELD of MQTT
	Factor float64 // converts the source's numbers to the channel's unit
}

// A FieldError says that a field of the configuration cannot be used.
type FieldError struct {
	Field, Value, Remedy string
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("%s = %s: %s", e.Field, e.Value, e.Remedy)
}

// Read reads a file, then applies settings of the form field=value.
func Read(path string, settings []string) (*Config, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &FieldError{"FILE", path,
			"name a configuration that this user can read: " + err.Error()}
	}
	defer file.Close()
	lines, err := configLines(file)
	if err != nil {
		return nil, &FieldError{"FILE", path, "name a text file with lines field = value: " + err.Error()}
	}
	cfg, err := Parse(append(lines, settings...))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return cfg, nil
}

// mostConfig bounds the bytes of a file. A file of a megabyte is no configuration.
const mostConfig = 1 << 20

// configLines returns the lines without comments. A comment is a line that begins with #, or the
// part of a line from a # between spaces on.
func configLines(r io.Reader) (lines []string, err error) {
	text, err := io.ReadAll(io.LimitReader(r, mostConfig+1))
	if len(text) > mostConfig {
		return nil, fmt.Errorf("it has more than %d bytes", mostConfig)
	}
	for line := range strings.Lines(string(textfile.UTF8(text))) {
		line, _, _ = strings.Cut(" "+strings.TrimSpace(strings.ReplaceAll(line, "\t", " ")), " # ")
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines, err
}

// Parse makes a configuration from lines "field = value". If a field is repeated the
// last line counts, except for channels: each line adds one.
func Parse(lines []string) (*Config, error) {
	c := &Config{HeldOut: 0.2, Report: 24 * time.Hour, Source: Source{Time: "time"},
		MQTT: MQTT{Prefix: "zofl", Discovery: "homeassistant"}}
	for _, f := range fields {
		if f.fallback != "" {
			if err := f.read(c, f.fallback); err != nil {
				return nil, fmt.Errorf("%s = %s: %w", f.name, f.fallback, err)
			}
		}
	}
	for _, line := range lines {
		if err := c.set(line); err != nil {
			return nil, err
		}
	}
	return c, c.check()
}

// set applies one line.
func (c *Config) set(line string) error {
	name, value, ok := strings.Cut(line, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok {
		return &FieldError{"line", line, "write it as field = value, or begin it with # for a comment"}
	}
	for _, f := range fields {
		if f.name != name {
			continue
		}
		err := f.read(c, value)
		if err != nil && !errors.As(err, new(*FieldError)) {
			err = &FieldError{name, value, err.Error()}
		}
		return err
	}
	return &FieldError{name, value, "there is no such field: choose one of " + fieldNames()}
}

func fieldNames() string {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}
