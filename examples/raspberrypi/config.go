package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// A Config is the content of the agent's file. The fields variable explains each field.
type Config struct {
	URL, Run, ID     string
	CA, Creds        string
	Secret           string // file with the run key
	RunKey           []byte // content of Secret
	Plaintext        bool
	State            string
	Source           Source
	Channels         []Channel
	Period           time.Duration
	Lags, Ahead      int
	Hidden           int
	Window, Least    int
	HeldOut          float64
	Pace             time.Duration
	Keep, Report     time.Duration
	Anomaly          float64
	Memory           int64 // MiB
	Speed            float64
	TimeColumn, Name string
}

// A Source says where readings come from.
type Source struct {
	Kind, Path string // Kind: csv, replay, sysfs
}

// A Channel is one quantity that a sensor measures. Name, Center, Scale and Change belong
// to the run: the same numbers must mean the same on every device.
type Channel struct {
	Name   string
	Center float32 // a usual value
	Scale  float32 // a large deviation from Center
	Change float32 // a large change within a forecast
	Noise  float32 // the smallest error that may count as an anomaly
	From   string  // column of a CSV, or attribute of sysfs
	Factor float64 // converts the source's numbers to the channel's unit
}

// shape returns the shape of the model.
func (c *Config) shape() shape { return shape{len(c.Channels), c.Lags, c.Hidden} }

// A FieldError says that a field of the configuration cannot be used.
type FieldError struct {
	Field, Value, Remedy string
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("%s = %s: %s", e.Field, e.Value, e.Remedy)
}

// readConfig reads a file, then applies settings of the form field=value.
func readConfig(path string, settings []string) (*Config, error) {
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
	cfg, err := parseConfig(append(lines, settings...))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return cfg, nil
}

// configLines returns the lines that are neither empty nor comments.
func configLines(r io.Reader) (lines []string, err error) {
	scan := bufio.NewScanner(r)
	for scan.Scan() {
		line := strings.TrimSpace(scan.Text())
		if line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines, scan.Err()
}

// parseConfig makes a configuration from lines "field = value". If a field is repeated the
// last line counts, except for channels: each line adds one.
func parseConfig(lines []string) (*Config, error) {
	c := &Config{}
	for _, f := range fields {
		if f.fallback != "" {
			if err := f.set(c, f.fallback); err != nil {
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
		if err := f.set(c, value); err != nil {
			var bad *FieldError
			if errors.As(err, &bad) {
				return err
			}
			return &FieldError{name, value, err.Error()}
		}
		return nil
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
