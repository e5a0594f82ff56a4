package main

import (
	"log/slog"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/zofl/zofl/examples/sensor/internal/config"
	"github.com/zofl/zofl/examples/sensor/internal/mqtt"
)

// freshFor is how long a value of a topic counts as the present value: many sensors send a value
// only when it has changed, and at least every hour.
const freshFor = 65 * time.Minute

// Topics are MQTT topics as a source. Channel.From is TOPIC, whose messages are numbers, or
// TOPIC#FIELD, whose messages are JSON. A sample is the mean of the values since the last sample,
// or otherwise the last value.
type topics struct {
	*sampler
	cfg *config.Config
	log *slog.Logger

	mu     sync.Mutex
	values []heard // by channel
}

// A heard holds the values that the agent received for a channel.
type heard struct {
	sum   float64 // since the last sample
	n     int
	last  float64
	at    time.Time // when last came; zero: nothing has
	stale bool      // that it is too old was logged
	bad   bool      // that messages have no number was logged
}

func newTopics(cfg *config.Config, log *slog.Logger, s *station) *topics {
	t := &topics{cfg: cfg, log: log, values: make([]heard, len(cfg.Channels))}
	t.sampler = newSampler(cfg, log, s, t.read)
	return t
}

// subscriptions returns a handler for the messages of each topic.
func (t *topics) subscriptions() map[string]func([]byte) {
	all := map[string]func([]byte){}
	for i := range t.cfg.Channels {
		topic, field, _ := strings.Cut(t.cfg.Channels[i].From, "#")
		others := all[topic]
		all[topic] = func(payload []byte) {
			if others != nil {
				others(payload)
			}
			t.take(i, payload, field)
		}
	}
	return all
}

// take stores the value in a message for a channel.
func (t *topics) take(i int, payload []byte, field string) {
	v, err := mqtt.Number(payload, field)
	t.mu.Lock()
	defer t.mu.Unlock()
	h, c := &t.values[i], &t.cfg.Channels[i]
	if err != nil {
		if !h.bad {
			t.log.Warn("messages are skipped", "channel", c.Name, "from", c.From, "err", err)
		}
		h.bad = true
		return
	}
	v *= c.Factor
	h.sum, h.n, h.last, h.at, h.bad = h.sum+v, h.n+1, v, t.now(), false
}

// read makes a sample. read logs once that a channel has no more values, and once that the
// channel has values again.
func (t *topics) read() reading {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := reading{time: t.now(), values: make([]float64, len(t.values))}
	for i := range t.values {
		h, c := &t.values[i], &t.cfg.Channels[i]
		r.values[i] = math.NaN()
		fresh := !h.at.IsZero() && r.time.Sub(h.at).Abs() <= freshFor
		switch {
		case h.n > 0:
			r.values[i] = h.sum / float64(h.n)
		case fresh:
			r.values[i] = h.last
		}
		switch {
		case fresh && h.stale:
			t.log.Info("a channel is heard again", "channel", c.Name)
		case !fresh && !h.stale:
			t.log.Warn("a channel is not heard yet, or not any more", "channel", c.Name,
				"from", c.From, "last", h.at)
		}
		h.stale, h.sum, h.n = !fresh, 0, 0
	}
	return r
}
