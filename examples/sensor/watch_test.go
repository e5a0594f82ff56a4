package main

import (
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/examples/sensor/house"
	"github.com/zofl/zofl/examples/sensor/internal/notice"
)

// reporting returns a station whose watch reports the errors of each span of readings.
func reporting(t *testing.T, every time.Duration, lines ...string) *station {
	cfg := configOf(t, lines...)
	cfg.Report = every
	return newStation(cfg)
}

// Events are what a watch told its household.
type events struct {
	forecasts []notice.Forecast
	unusual   []notice.Unusual
}

func (e *events) Forecast(f notice.Forecast) { e.forecasts = append(e.forecasts, f) }
func (e *events) Unusual(u notice.Unusual)   { e.unusual = append(e.unusual, u) }

// watchedBy runs a watch over readings, with a model that forecasts no change, and returns
// the log.
func watchedBy(t *testing.T, s *station, each func(add func(reading))) (*watch, string) {
	log, told := listen()
	w := newWatch(s, log)
	w.tell = &events{}
	x := make([]float32, s.dim())
	each(func(r reading) {
		if slot, ended := s.add(r); ended {
			w.see(slot, x, 1)
		}
	})
	return w, told.String()
}

func TestAnomalyIsToldOnce(t *testing.T) {
	s := reporting(t, 1000*time.Hour, "model = ahead=2")
	w, told := watchedBy(t, s, func(add func(reading)) {
		for i := range int64(200) {
			v := 20 + 0.1*math.Sin(float64(i))
			if i >= 150 && i < 155 {
				v -= 3
			}
			add(reading{s.window.time(i), []float64{v}})
		}
	})
	if strings.Count(told, "msg=unusual") != 1 ||
		!strings.Contains(told, "at=1970-01-01T12:30:00.000Z reading=16.9") {
		t.Errorf("want one anomaly, from 12:30 on; logged:\n%s", told)
	}
	// 5 readings, and 2 after it
	if strings.Count(told, "usual again") != 1 || !strings.Contains(told, "lasted=35m0s") {
		t.Errorf("want its end after 35 minutes; logged:\n%s", told)
	}
	e := w.tell.(*events)
	if len(e.unusual) != 2 || e.unusual[0].Over || !e.unusual[1].Over ||
		e.unusual[0].At != at("1970-01-01T12:30:00Z") || e.unusual[0].Deviations < 8 {
		t.Errorf("told the household %+v, want a beginning and an end", e.unusual)
	}
	// The watch makes a forecast at each slot except the newest, which has not ended.
	if len(e.forecasts) != 199 {
		t.Fatalf("%d forecasts of 199 slots", len(e.forecasts))
	}
	first, last := e.forecasts[0], e.forecasts[198]
	if first.Deviation != 0 || last.Deviation == 0 || last.Record != 1 || last.Unit != "°C" ||
		last.Value != last.Reading || last.For.Sub(last.At) != 10*time.Minute {
		t.Errorf("forecasts %+v and %+v", first, last)
	}
}

func TestNoAnomalyWithoutEnoughErrors(t *testing.T) {
	s := newStation(configOf(t, "model = ahead=2"))
	_, told := watchedBy(t, s, func(add func(reading)) {
		for i := range int64(leastErrors) {
			add(reading{s.window.time(i), []float64{20 + float64(i%2)*40}})
		}
	})
	if strings.Contains(told, "unusual") {
		t.Errorf("told %s", told)
	}
}

// The error of a model that forecasts no change equals that of the last reading: the mean
// change.
func TestReport(t *testing.T) {
	s := reporting(t, time.Hour, "model = ahead=2")
	_, told := watchedBy(t, s, func(add func(reading)) {
		for i := range int64(40) {
			add(reading{s.window.time(i), []float64{float64(i) / 4}})
		}
	})
	if !strings.Contains(told, "error=0.5 error_of_last=0.5 record=1") {
		t.Errorf("told %s", told)
	}
}

// Nothing is logged for slots without a forecast, and gaps are no anomalies.
func TestGaps(t *testing.T) {
	s := newStation(configOf(t, "model = ahead=2"))
	w, told := watchedBy(t, s, func(add func(reading)) {
		for i := range int64(400) {
			v := 20.0
			if i%3 == 0 {
				v = math.NaN()
			}
			add(reading{s.window.time(i * 5), []float64{v}})
		}
	})
	e := w.tell.(*events)
	if told != "" || len(w.channels[0].recent) > 0 || len(e.unusual) > 0 || len(e.forecasts) != 266 {
		t.Errorf("told %q, %d forecasts", told, len(e.forecasts))
	}
}

// TestOpenWindowsAreFound counts the open windows of a house that an untrained model
// notices by the cold.
func TestOpenWindowsAreFound(t *testing.T) {
	home, s := newHome(21, 4), reporting(t, 10000*time.Hour)
	_, told := watchedBy(t, s, func(add func(reading)) {
		for _, r := range home.readings {
			add(reading{house.Time(r.Minute), []float64{r.Value}})
		}
	})
	var flags []time.Time
	for _, m := range regexp.MustCompile(`msg=unusual .* at=(\S+) `).FindAllStringSubmatch(told, -1) {
		flags = append(flags, at(m[1]))
	}
	found := 0
	for _, o := range home.trace.Opened {
		from, to := house.Time(o[0]-house.Every), house.Time(o[1]+6*house.Every)
		for _, f := range flags {
			if !f.Before(from) && !f.After(to) {
				found++
				break
			}
		}
	}
	opened := len(home.trace.Opened)
	t.Logf("%d of %d windows, %d flags in 21 days", found, opened, len(flags))
	if opened < 5 || 3*found < 2*opened || len(flags) > 60 {
		t.Errorf("found %d of %d windows with %d flags, want two thirds with 60 or fewer",
			found, opened, len(flags))
	}
}

// When the window drops what a wrong clock dated ahead, reports continue from there.
func TestReportsAfterTheClockWasWrong(t *testing.T) {
	s := reporting(t, time.Hour, "model = ahead=2")
	log, told := listen()
	w, x := newWatch(s, log), make([]float32, s.dim())
	for _, from := range []int64{100_000, 10_000} {
		s.rewind(s.window.time(from))
		for i := range int64(40) {
			if slot, ended := s.add(reading{s.window.time(from + i), []float64{20}}); ended {
				w.see(slot, x, 1)
			}
		}
	}
	if n := strings.Count(told.String(), "msg=forecasts"); n != 6 {
		t.Errorf("%d reports, want 3 before and 3 after: %s", n, told)
	}
}
