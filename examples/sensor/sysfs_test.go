package main

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// device creates a directory like the kernel's. A file whose text is a slash becomes a
// directory, so that reading it fails like a broken sensor.
func device(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if text == "/" {
			err = errors.Join(err, os.Mkdir(path, 0o700))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(text+"\n"), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func newTestSensor(t *testing.T, dir string, lines ...string) (*sensor, *strings.Builder) {
	log, told := listen()
	cfg := configOf(t, append(lines, "source = sysfs "+dir)...)
	return newSensor(cfg, log, newStation(cfg)), told
}

func TestAttributes(t *testing.T) {
	dir := device(t, map[string]string{
		"in_temp_input":             "21375",
		"in_humidityrelative_raw":   "1000",
		"in_humidityrelative_scale": "0.0625", "in_humidityrelative_offset": "-200",
		"in_pressure_raw": "77",
		"in_bad_input":    "abc",
		"in_broken_raw":   "5", "in_broken_scale": "x",
		"in_io_input": "/",
		"temp1_input": "-12500",
	})
	for name, want := range map[string]float64{
		"in_temp": 21375, "in_humidityrelative": (1000 - 200) * 0.0625,
		"in_pressure": 77, "temp1": -12500,
		"in_bad": math.NaN(), "in_broken": math.NaN(), "in_io": math.NaN(), "in_none": math.NaN(),
	} {
		got, err := readAttribute(filepath.Join(dir, name))
		if got != want && !(math.IsNaN(want) && err != nil) || (err != nil) != math.IsNaN(want) {
			t.Errorf("%s is %v, error %v, want %v", name, got, err, want)
		}
	}
}

// A failing sensor is logged once, and does not affect the others.
func TestSensorFailsAndComesBack(t *testing.T) {
	dir := device(t, map[string]string{"in_temp_input": "/", "in_pressure_input": "101.3"})
	s, told := newTestSensor(t, dir, "channel = pressure center=101 from=in_pressure factor=10",
		"channel = other from=in_none")
	s.cfg.Channels[0].From, s.cfg.Channels[0].Factor = "in_temp", 0.001
	for range 3 {
		r := s.read()
		if !math.IsNaN(r.values[0]) || r.values[1] != 1013 || !math.IsNaN(r.values[2]) {
			t.Fatalf("read %v", r.values)
		}
	}
	if n := strings.Count(told.String(), "cannot be read"); n != 2 {
		t.Errorf("two channels failed three times, logged %d times: %s", n, told)
	}
	path := filepath.Join(dir, "in_temp_input")
	if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte("20000"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if r := s.read(); r.values[0] != 20 || !strings.Contains(told.String(), "can be read again") {
		t.Errorf("read %v after it recovered, logged %s", r.values, told)
	}
}

func TestSensorByName(t *testing.T) {
	dir := device(t, map[string]string{"iio:device0/name": "adc", "iio:device3/name": "bme280",
		"iio:device3/temperature_input": "7"})
	s, _ := newTestSensor(t, dir+"/iio:device*", "source = sensor=bme280")
	if r := s.read(); r.values[0] != 7 {
		t.Errorf("read %v, want the bme280's", r.values)
	}
	s.cfg.Source.Name = "none"
	if _, err := s.dir(); err == nil || !strings.Contains(err.Error(), "none of the 2") {
		t.Errorf("got %v, want that none has the name", err)
	}
}

// A Pi without a clock starts in the past. No reading is taken until the time is set, or
// until it is clear that the window was wrong.
func TestClockBehind(t *testing.T) {
	s, told := newTestSensor(t, device(t, map[string]string{"temperature_input": "7"}))
	st := newStation(s.cfg)
	s.clock.station = st
	now := at("2026-01-31T12:00:00Z")
	put(st, st.window.slot(now), 1, 2, 3)
	begun, taken := now.Add(-24*time.Hour), 0
	s.now = func() time.Time { return begun.Add(time.Duration(taken) * s.cfg.Period / perSlot) }
	out := make(chan reading, 10)
	s.pause = func(context.Context, time.Duration) error {
		if taken++; taken > clockSlots*perSlot+1 {
			return errDone
		}
		if taken == clockSlots*perSlot && len(out) > 0 {
			t.Error("took a reading from a clock that is behind")
		}
		return nil
	}
	if err := s.run(t.Context(), out); !errors.Is(err, errDone) {
		t.Fatal(err)
	}
	if len(out) == 0 || st.window.held != 0 || strings.Count(told.String(), "does not fit") != 1 {
		t.Errorf("%d readings, %d slots held, told %s", len(out), st.window.held, told)
	}
}

// If a clock was ahead for one reading and is right again within the slot, the readings
// until that later time are not lost.
func TestClockAhead(t *testing.T) {
	s, told := newTestSensor(t, device(t, map[string]string{"temperature_input": "7"}))
	st := s.clock.station
	now := at("2026-01-31T12:00:00Z")
	put(st, st.window.slot(now)-50, make([]float64, 50)...)
	take := func(t time.Time) {
		if s.clock.believe(t, false) {
			st.add(reading{t, []float64{7}})
		}
	}
	take(now.Add(24 * time.Hour)) // begins a slot of tomorrow
	for range clockSlots + 10 {
		take(now)
		now = now.Add(s.cfg.Period)
	}
	if last := st.window.slot(now) - 2; st.window.last != last || st.window.held < 50 {
		t.Errorf("slots %d to %d, want those up to %d and the 50 before the clock went "+
			"wrong; told %s", st.window.first(), st.window.last, last, told)
	}
}

// A Pi that starts for the first time begins in the past, and continues at once when the
// network sets the time: it has nothing to lose.
func TestFirstClock(t *testing.T) {
	s, told := newTestSensor(t, device(t, map[string]string{"temperature_input": "7"}))
	for _, said := range []string{"2024-03-01T00:00:00Z", "2026-01-31T12:00:00Z",
		"2026-01-31T12:01:00Z"} {
		if !s.clock.believe(at(said), false) {
			t.Errorf("the reading of %s was not taken", said)
		}
		s.clock.station.add(reading{at(said), []float64{7}})
	}
	if told.Len() > 0 {
		t.Errorf("told %s", told)
	}
}
