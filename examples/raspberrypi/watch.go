package main

import (
	"log/slog"
	"math"
	"slices"
	"strconv"
	"time"
)

const (
	recentErrors = 288 // what is usual: a day of 5 min
	leastErrors  = 48  // before anything is unusual
)

// A watch uses the model: it forecasts the readings to come, says how good forecasts
// were, and which readings are far from theirs.
type watch struct {
	station  *station
	network  *network
	log      *slog.Logger
	inputs   []float32
	said     []float64
	pending  []forecast // by slot mod their number
	channels []watched
	reported int64 // slot of the last report
	newest   int64 // that was seen
}

// A forecast is what was said of a slot; NaN: nothing.
type forecast struct {
	slot   int64
	values []float64 // in units
	last   []float64 // reading that it was made at
}

// watched is what a watch knows of a channel.
type watched struct {
	recent      []float64 // sizes of errors, oldest first
	sum, last   float64   // of errors' sizes since the last report; of the last reading's
	n           int
	since, seen int64 // first slot and newest slot of an anomaly that goes on; 0: there is none
}

func newWatch(s *station, log *slog.Logger) *watch {
	w := &watch{
		station: s, network: newNetwork(s.shape), log: log,
		inputs: make([]float32, s.inputs()), said: make([]float64, s.channels),
		pending: make([]forecast, s.cfg.Ahead+1), channels: make([]watched, s.channels),
	}
	for i := range w.pending {
		w.pending[i] = forecast{math.MinInt64, make([]float64, s.channels), make([]float64, s.channels)}
	}
	return w
}

// see compares a slot that ended with what was forecast of it, and forecasts another
// by the model after record n; n = 0: there is none yet.
func (w *watch) see(slot int64, x []float32, n uint64) {
	s := w.station
	s.mu.Lock()
	if slot <= w.newest { // what came later was forgotten
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
		w.forecast(slot, x, got)
	}
	w.reportIfDue(slot, at, n)
}

// restart begins the next report at a slot, and ends anomalies that a wrong clock dated
// after it.
func (w *watch) restart(slot int64) {
	w.reported = slot
	for c := range w.channels {
		w.channels[c].since, w.channels[c].seen = 0, 0
	}
}

func (w *watch) at(slot int64) *forecast {
	i := slot % int64(len(w.pending))
	if i < 0 {
		i += int64(len(w.pending))
	}
	return &w.pending[i]
}

// forecast notes what the model says at a slot of the one ahead.
func (w *watch) forecast(slot int64, x []float32, now []float32) {
	w.network.forward(x, w.inputs, w.said)
	ahead := slot + int64(w.station.cfg.Ahead)
	f := w.at(ahead)
	f.slot = ahead
	for c := range f.values {
		f.last[c] = float64(now[c]) // NaN where it is missing
		f.values[c] = f.last[c] + w.said[c]*float64(w.station.cfg.Channels[c].Change)
	}
}

// judge compares a forecast with what came.
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

// judgeOne tells an anomaly when it begins and when it is over: when no error was large
// for twice as long as a forecast reaches. What is forecast while it lasts is wrong once
// more when it is over.
func (w *watch) judgeOne(k *watched, ch *Channel, err float64, f *forecast, c int, got float32, at time.Time) {
	if len(k.recent) < leastErrors {
		return
	}
	usual := max(deviation(k.recent), float64(ch.Noise))
	switch {
	case err > w.station.cfg.Anomaly*usual:
		if k.since == 0 {
			k.since = f.slot
			w.log.Warn("unusual", "channel", ch.Name, "at", at, "reading", round(float64(got)), "forecast", round(f.values[c]), "deviations", round(err/usual))
		}
		k.seen = f.slot
	case k.since != 0 && f.slot-k.seen > 2*int64(w.station.cfg.Ahead):
		lasted := time.Duration(k.seen-k.since+1) * w.station.cfg.Period
		w.log.Info("usual again", "channel", ch.Name, "at", at, "lasted", lasted)
		k.since, k.seen = 0, 0
	}
}

// deviation returns the standard deviation that normal errors of these sizes have, by
// their median: 1.4826 times it. Anomalies among them do not move it.
func deviation(sizes []float64) float64 {
	sorted := slices.Sorted(slices.Values(sizes))
	return 1.4826 * sorted[len(sorted)/2]
}

// reportIfDue says how good forecasts were since the last report, beside those that
// nothing changes.
func (w *watch) reportIfDue(slot int64, at time.Time, n uint64) {
	every := max(1, int64(w.station.cfg.Report/w.station.cfg.Period))
	if w.reported == 0 {
		w.reported = slot
	}
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

// round writes four digits, for people.
func round(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
