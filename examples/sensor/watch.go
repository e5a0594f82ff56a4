package main

import (
	"cmp"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/zofl/zofl/examples/sensor/internal/config"
	"github.com/zofl/zofl/examples/sensor/internal/notice"
)

const (
	recentErrors = 288 // errors that define what is usual: a day of 5 min
	leastErrors  = 48  // errors needed before anything can be unusual
)

// A watch uses the model: it forecasts readings, reports the errors of its forecasts, and
// reports readings that are far from their forecasts.
type watch struct {
	station  *station
	network  *network
	log      *slog.Logger
	tell     notice.Sink
	inputs   []float32
	out      []float64
	pending  []forecast // slot modulo their number
	channels []channelErrors
	reported int64 // slot of the last report
	newest   int64 // newest slot that was seen
}

// A forecast is a forecast for a slot; NaN: none.
type forecast struct {
	slot   int64
	values []float64 // in the channel's unit
	last   []float64 // the reading from which it was made
}

// channelErrors is the error statistics of a channel.
type channelErrors struct {
	recent []float64 // absolute errors, oldest first
	// absolute errors since the last report: of forecasts, of the last reading as a forecast
	sum, last   float64
	n           int
	since, seen int64 // first and newest slot of the current anomaly; 0: none
}

func newWatch(s *station, log *slog.Logger) *watch {
	w := &watch{
		station: s, network: newNetwork(s.shape), log: log, tell: notice.Sinks{},
		inputs: make([]float32, s.inputs()), out: make([]float64, s.channels),
		pending: make([]forecast, s.cfg.Ahead+1), channels: make([]channelErrors, s.channels),
	}
	for i := range w.pending {
		w.pending[i] = forecast{math.MinInt64, make([]float64, s.channels), make([]float64, s.channels)}
	}
	return w
}

// see compares a completed slot with the slot's forecast, and makes the next forecast with the
// model after record n. If n is 0, there is no model yet.
func (w *watch) see(slot int64, x []float32, n uint64) {
	s := w.station
	s.mu.Lock()
	if slot <= w.newest { // later slots were dropped
		w.restart(slot)
	}
	w.newest = slot
	got := slices.Clone(s.window.at(slot))
	known := n > 0 && s.see(slot, w.inputs)
	at := s.window.time(slot)
	s.mu.Unlock()
	if f := w.at(slot); f.slot == slot {
		w.judge(f, got, at)
	}
	if known {
		w.tellForecasts(w.forecast(slot, x, got), at, n)
	}
	w.reportIfDue(slot, at, n)
}

// restart begins the next report at a slot, and ends anomalies that a wrong clock dated
// after it.
func (w *watch) restart(slot int64) {
	w.reported = slot
	for c := range w.channels {
		k, ch := &w.channels[c], &w.station.cfg.Channels[c]
		if k.since != 0 {
			w.tell.Unusual(notice.Unusual{Channel: ch.Name, Unit: ch.Unit,
				At: w.station.window.time(slot), Over: true})
		}
		k.since, k.seen = 0, 0
	}
}

func (w *watch) at(slot int64) *forecast {
	i := slot % int64(len(w.pending))
	if i < 0 {
		i += int64(len(w.pending))
	}
	return &w.pending[i]
}

// forecast stores the model's forecast, made at a slot, for the slot ahead of it, and returns it.
func (w *watch) forecast(slot int64, x []float32, now []float32) *forecast {
	w.network.forward(x, w.inputs, w.out)
	ahead := slot + int64(w.station.cfg.Ahead)
	f := w.at(ahead)
	f.slot = ahead
	for c := range f.values {
		f.last[c] = float64(now[c]) // NaN if it is missing
		f.values[c] = f.last[c] + w.out[c]*float64(w.station.cfg.Channels[c].Change)
	}
	return f
}

// tellForecasts reports a forecast of record n, made for a slot that began at a time, except for
// channels without a reading.
func (w *watch) tellForecasts(f *forecast, at time.Time, n uint64) {
	for c := range f.values {
		if math.IsNaN(f.values[c]) || math.IsInf(f.values[c], 0) {
			continue
		}
		ch, k := &w.station.cfg.Channels[c], &w.channels[c]
		told := notice.Forecast{Channel: ch.Name, Unit: ch.Unit, At: at, Reading: f.last[c],
			For:   at.Add(time.Duration(w.station.cfg.Ahead) * w.station.cfg.Period),
			Value: f.values[c], Record: n}
		if len(k.recent) >= leastErrors {
			told.Deviation = deviation(k.recent)
		}
		w.tell.Forecast(told)
	}
}

// judge compares a forecast with the readings.
func (w *watch) judge(f *forecast, got []float32, at time.Time) {
	for c := range w.channels {
		err := math.Abs(float64(got[c]) - f.values[c])
		if math.IsNaN(err) {
			continue
		}
		k := &w.channels[c]
		w.judgeOne(k, &w.station.cfg.Channels[c], err, f, c, got[c], at)
		k.sum, k.last, k.n = k.sum+err, k.last+math.Abs(float64(got[c])-f.last[c]), k.n+1
		if k.recent = append(k.recent, err); len(k.recent) > recentErrors {
			k.recent = slices.Delete(k.recent, 0, 1)
		}
	}
}

// judgeOne logs an anomaly when it begins and when it is over: when no error was large for twice
// the reach of a forecast. After an anomaly, the forecasts made during it are wrong once more.
func (w *watch) judgeOne(k *channelErrors, ch *config.Channel, err float64, f *forecast, c int,
	got float32, at time.Time) {
	if len(k.recent) < leastErrors {
		return
	}
	usual := max(deviation(k.recent), float64(ch.Noise))
	switch {
	case err > w.station.cfg.Anomaly*usual:
		if k.since == 0 {
			k.since = f.slot
			w.log.Warn("unusual", "channel", ch.Name, "at", at, "reading", round(float64(got)),
				"forecast", round(f.values[c]), "deviations", round(err/usual))
			w.tell.Unusual(notice.Unusual{Channel: ch.Name, Unit: ch.Unit, At: at,
				Reading: float64(got), Forecast: f.values[c], Deviations: err / usual})
		}
		k.seen = f.slot
	case k.since != 0 && f.slot-k.seen > 2*int64(w.station.cfg.Ahead):
		lasted := time.Duration(k.seen-k.since+1) * w.station.cfg.Period
		w.log.Info("usual again", "channel", ch.Name, "at", at, "lasted", lasted)
		w.tell.Unusual(notice.Unusual{Channel: ch.Name, Unit: ch.Unit, At: at,
			Reading: float64(got), Forecast: f.values[c], Deviations: err / usual, Over: true})
		k.since, k.seen = 0, 0
	}
}

// deviation returns the standard deviation of normal errors with these absolute values,
// estimated as 1.4826 times their median. A few anomalies among them do not change it.
func deviation(sizes []float64) float64 {
	sorted := slices.Sorted(slices.Values(sizes))
	return 1.4826 * sorted[len(sorted)/2]
}

// reportIfDue reports the errors of forecasts since the last report, next to the errors of
// forecasting no change.
func (w *watch) reportIfDue(slot int64, at time.Time, n uint64) {
	every := max(1, int64(w.station.cfg.Report/w.station.cfg.Period))
	w.reported = cmp.Or(w.reported, slot)
	if slot-w.reported < every {
		return
	}
	w.reported = slot
	w.report(at, n)
}

func (w *watch) report(at time.Time, n uint64) {
	for c := range w.channels {
		k := &w.channels[c]
		if k.n == 0 {
			continue
		}
		w.log.Info("forecasts", "channel", w.station.cfg.Channels[c].Name, "until", at, "readings", k.n,
			"error", round(k.sum/float64(k.n)), "error_of_last", round(k.last/float64(k.n)), "record", n)
		k.sum, k.last, k.n = 0, 0, 0
	}
}

// round formats a number with four digits, for people.
func round(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
