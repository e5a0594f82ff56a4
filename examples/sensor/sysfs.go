package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/zofl/zofl/examples/sensor/internal/config"
)

// A sensor is a directory of sysfs as a source. The directory belongs to Linux's Industrial I/O,
// such as /sys/bus/iio/devices/iio:device0, or to a hardware monitor, such as
// /sys/class/hwmon/hwmon0. Channel.From is an attribute without its suffix: in_temp is read from
// in_temp_input or in_temp_raw, and temp1 from temp1_input.
type sensor struct {
	*sampler
	cfg      *config.Config
	log      *slog.Logger
	failures map[string]bool // channels whose failure was logged
}

func newSensor(cfg *config.Config, log *slog.Logger, s *station) *sensor {
	r := &sensor{cfg: cfg, log: log, failures: map[string]bool{}}
	r.sampler = newSampler(cfg, log, s, r.read)
	return r
}

// read reads all channels. read logs a failing channel once, and logs again when the channel
// recovers.
func (s *sensor) read() reading {
	r := reading{time: s.now(), values: make([]float64, len(s.cfg.Channels))}
	dir, err := s.dir()
	for i := range s.cfg.Channels {
		c := &s.cfg.Channels[i]
		v, why := math.NaN(), err
		if why == nil {
			v, why = readAttribute(filepath.Join(dir, c.From))
		}
		r.values[i] = v * c.Factor
		switch {
		case why != nil && !s.failures[c.Name]:
			s.log.Warn("a channel cannot be read", "channel", c.Name, "err", why)
		case why == nil && s.failures[c.Name]:
			s.log.Info("a channel can be read again", "channel", c.Name)
		}
		s.failures[c.Name] = why != nil
	}
	return r
}

// dir finds the directory: the numbers of devices may change at a restart.
func (s *sensor) dir() (string, error) {
	if s.cfg.Source.Name == "" {
		return s.cfg.Source.Path, nil
	}
	dirs, err := filepath.Glob(s.cfg.Source.Path)
	if err != nil {
		return "", err
	}
	for _, dir := range dirs {
		if b, err := os.ReadFile(filepath.Join(dir, "name")); err == nil &&
			strings.TrimSpace(string(b)) == s.cfg.Source.Name {
			return dir, nil
		}
	}
	return "", fmt.Errorf("none of the %d directories %s has the name %s",
		len(dirs), s.cfg.Source.Path, s.cfg.Source.Name)
}

// readAttribute reads name_input, or (name_raw + name_offset) * name_scale, as the kernel
// defines them. A missing offset is 0, a missing scale 1.
func readAttribute(name string) (float64, error) {
	v, err := readNumber(name + "_input")
	if !errors.Is(err, fs.ErrNotExist) {
		return v, err
	}
	v, err = readNumber(name + "_raw")
	if errors.Is(err, fs.ErrNotExist) {
		return v, fmt.Errorf("neither %s_input nor _raw: %w", name, fs.ErrNotExist)
	}
	if err != nil {
		return v, err
	}
	offset, err := optional(name+"_offset", 0)
	if err != nil {
		return math.NaN(), err
	}
	scale, err := optional(name+"_scale", 1)
	return (v + offset) * scale, err
}

func optional(name string, fallback float64) (float64, error) {
	v, err := readNumber(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fallback, nil
	}
	return v, err
}

func readNumber(name string) (float64, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return math.NaN(), err
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(string(b)), 64)
	if err != nil {
		return math.NaN(), fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}
