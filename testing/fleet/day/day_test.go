package day

import (
	"reflect"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/report"
)

// small is a day for the everyday check: its phones come and go faster.
func small() Config {
	f := Phones()
	f.Session, f.Outages = 10*time.Minute, 6
	return Config{Seed: 1, Devices: 60, Length: 2 * time.Hour, Every: 10 * time.Minute, Fleet: f}
}

// TestTwoHours: phones come, go, lose their radio and decline, and the run goes on by itself.
func TestTwoHours(t *testing.T) {
	cfg := small()
	if testing.Short() {
		cfg.Length = 20 * time.Minute
	}
	h := Run(t, cfg)
	for _, hour := range h.Hours {
		if hour.Rounds == 0 {
			t.Errorf("no round in the %v before %v", 10*time.Minute, hour.End)
		}
	}
	if h.FinalState != report.Open || len(h.Faults) > 0 {
		t.Errorf("the run ends %v (%s), with faults %q, want it open", h.FinalState, h.FinalReason,
			h.Faults)
	}
	if counted := total(&h.Counters); counted != h.Arrived {
		t.Errorf("%d replies reached the coordinator, %d are in its counters: %+v", h.Arrived,
			counted, h.Counters)
	}
	if len(h.Differ) > 0 || h.States < 40 || h.Behind > 1 {
		t.Errorf("%d states compared with the log's, want 40; differ: %q; a phone is %d records "+
			"behind, want at most 1", h.States, h.Differ, h.Behind)
	}
	if testing.Short() {
		return
	}
	all := &h.Total
	if first := h.Hours[0]; all.Accuracy < 0.5 || all.Loss > first.Loss-0.3 {
		t.Errorf("loss %.2f, accuracy %.2f, after %v %.2f and %.2f: want them to learn", all.Loss,
			all.Accuracy, first.End, first.Loss, first.Accuracy)
	}
	if all.Declines < 10 || all.Late < 10 || h.Lost < 100 || all.CatchUps < 50 ||
		all.Present < 15 || all.Present > 40 {
		t.Errorf("a day that spares its phones: %+v, %d messages lost", all, h.Lost)
	}
}

// total is the number of replies that a coordinator counted.
func total(c *report.Counters) uint64 {
	return c.Contributions + c.Evaluations + c.Declines + c.Digests + c.Goodbyes + c.Repeated +
		c.Dropped()
}

// TestSameSeedSameHistory: a history depends on the config alone.
func TestSameSeedSameHistory(t *testing.T) {
	cfg := small()
	cfg.Length = 40 * time.Minute
	if testing.Short() {
		cfg.Length = 4 * time.Minute
	}
	one, two := Run(t, cfg), Run(t, cfg)
	if !reflect.DeepEqual(one, two) {
		t.Errorf("two histories of one seed:\n%+v\n%+v", one, two)
	}
	cfg.Seed++
	if other := Run(t, cfg); other.Digest == one.Digest {
		t.Error("two seeds have the same final model")
	}
}

// TestTimeline: the share of phones whose app runs is what the fleet says, in every hour.
func TestTimeline(t *testing.T) {
	const phones, length = 2000, 6 * time.Hour
	f := Phones()
	copy(f.Present[:], []float64{0.5, 0.5, 0.1, 0.1, 0.7, 0.7})
	w := &world{cfg: Config{Fleet: f, Length: length}}
	var running [6]float64
	for i := range phones {
		end := time.Duration(0)
		for _, s := range f.timeline(w.random(i), length) {
			if s.from < end || s.to <= s.from {
				t.Fatalf("a session from %v to %v after one to %v", s.from, s.to, end)
			}
			end = s.to
			for h := range running {
				// The second half of the hour: the first still knows the hour before.
				from := time.Duration(h)*time.Hour + 30*time.Minute
				running[h] += max(min(s.to, from+30*time.Minute)-max(s.from, from), 0).Hours() * 2
			}
		}
	}
	for h, got := range running {
		if got /= phones; h%2 == 1 && (got < f.Present[h]-0.06 || got > f.Present[h]+0.06) {
			t.Errorf("hour %d: %.3f of the phones run the app, want %.2f", h, got, f.Present[h])
		}
	}
}

func TestConfig(t *testing.T) {
	for _, cfg := range []Config{{Devices: -1}, {Length: -1}, {Every: 1}} {
		if _, err := Simulate(t, cfg); err == nil {
			t.Errorf("%+v: no error", cfg)
		}
	}
}
