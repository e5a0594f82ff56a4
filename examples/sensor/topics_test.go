package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

// A sample is the mean of what came since the last one, or what came last, for an hour. Messages of
// one topic may have several channels.
func TestTopics(t *testing.T) {
	log, told := listen()
	cfg := configOf(t, "source = mqtt", "mqtt = mqtt://127.0.0.1",
		"channel = humidity from=home/kitchen#air.humidity",
		"channel = door from=home/kitchen#door factor=10")
	cfg.Channels[0].From = "home/bare"
	s := newTopics(cfg, log, newStation(cfg))
	begun := at("2026-01-31T12:00:00Z")
	s.now = func() time.Time { return begun }
	topics := s.subscriptions()
	if len(topics) != 2 {
		t.Fatalf("%d topics, want 2", len(topics))
	}
	sample := func(after time.Duration, want ...float64) {
		t.Helper()
		begun = begun.Add(after)
		got := s.read().values
		for i := range want {
			if got[i] != want[i] && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
				t.Errorf("got %v, want %v", got, want)
			}
		}
	}
	none := math.NaN()
	sample(0, none, none, none)
	topics["home/bare"]([]byte(" 20.5\n"))
	topics["home/bare"]([]byte("21.5"))
	topics["home/kitchen"]([]byte(`{"other":[{"air":1}],"air":{"humidity":"40"},"door":2}`))
	sample(time.Minute, 21, 40, 20)
	topics["home/kitchen"]([]byte(`{"air":{"humidity":44}}`))
	topics["home/bare"]([]byte("unavailable"))
	topics["home/bare"]([]byte("NaN"))
	sample(time.Minute, 21.5, 44, 20)
	sample(freshFor, none, none, none)
	topics["home/bare"]([]byte("1"))
	sample(time.Minute, 1, none, none)
	for text, want := range map[string]int{"not heard yet": 6, "heard again": 4, "are skipped": 2} {
		if n := strings.Count(told.String(), text); n != want {
			t.Errorf("%q is logged %d times, want %d:\n%s", text, n, want, told)
		}
	}
}
