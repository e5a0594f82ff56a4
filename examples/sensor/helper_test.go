package main

import (
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/examples/sensor/house"
	"github.com/zofl/zofl/examples/sensor/internal/config"
)

// configOf returns a small configuration of one channel with these lines added.
func configOf(t testing.TB, lines ...string) *config.Config {
	t.Helper()
	all := append([]string{
		"id = a", "state = " + t.TempDir(), "channel = temperature center=20 scale=5 change=0.5",
		"source = csv none",
	}, lines...)
	cfg, err := config.Parse(all)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// listen returns a log and its output.
func listen() (*slog.Logger, *strings.Builder) {
	b := &strings.Builder{}
	return slog.New(slog.NewTextHandler(b, nil)), b
}

// put adds readings from a slot on, a period apart.
func put(s *station, first int64, values ...float64) {
	for i, v := range values {
		s.add(reading{s.window.time(first + int64(i)), []float64{v}})
	}
	// ends the last slot
	s.add(reading{s.window.time(first + int64(len(values))), []float64{math.NaN()}})
}

// A home is a room over some days, and its readings.
type home struct {
	trace    house.Trace
	readings []house.Reading
}

func newHome(days int, seed uint64) home {
	random := rand.New(rand.NewPCG(seed, 1))
	room := house.NewRoom(random)
	trace := room.Live(house.NewWeather(days, rand.New(rand.NewPCG(seed, 0))), random)
	return home{trace, trace.Read(room.Noise, random)}
}

// filled returns a station that has read a home.
func filled(t *testing.T, days int, lines ...string) *station {
	s := newStation(configOf(t, lines...))
	for _, r := range newHome(days, 1).readings {
		s.add(reading{house.Time(r.Minute), []float64{r.Value}})
	}
	return s
}

func at(s string) time.Time {
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return v
}
