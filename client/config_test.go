package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
)

func TestConfigErrors(t *testing.T) {
	m := bus.NewMemory()
	defer m.Close()
	good := client.Config{Bus: m, Run: "r", ID: "d", Objective: bowlLoss(1, 0)}
	tests := []struct {
		edit func(*client.Config)
		says []string // field and remedy
	}{
		{func(c *client.Config) { c.Bus = nil }, []string{"Conn is nil", "nats.Connect"}},
		{func(c *client.Config) { c.Run = "" }, []string{"Run:", "1..32"}},
		{func(c *client.Config) { c.Run = "a.b" }, []string{"Run:", "A-Z a-z 0-9 - _"}},
		{func(c *client.Config) { c.ID = "" }, []string{"ID:", "1..32"}},
		{func(c *client.Config) { c.ID = "my phone" }, []string{"ID:", "A-Z a-z 0-9 - _"}},
		{func(c *client.Config) { c.ID = strings.Repeat("x", 33) },
			[]string{"ID:", "33 characters"}},
		{func(c *client.Config) { c.Objective = nil },
			[]string{"Objective is nil", "objective.Func"}},
		{func(c *client.Config) { c.Objective = bowlLoss(0, 0) },
			[]string{"Objective.Dim() = 0", "at least 1"}},
		{func(c *client.Config) { c.Objective = bowlLoss(-1, 0) },
			[]string{"Objective.Dim() = -1"}},
		{func(c *client.Config) { c.Objective = lossless(3) },
			[]string{"client_test.lossless", "objective.Flat"}},
		{func(c *client.Config) { c.Bus, c.Conn = nil, inboxAt("_INBOX_other") },
			[]string{`prefix "_INBOX_other"`, `client.ConnectOptions("d")`}},
		{func(c *client.Config) {
			c.Initial, c.ReadInitial = []float32{1},
				func([]float32) error { return nil }
		},
			[]string{"Initial and ReadInitial", "set one of them"}},
		{func(c *client.Config) { c.MaxBatch = -1 }, []string{"MaxBatch = -1", "or 0"}},
		{func(c *client.Config) { c.Workers = -1 }, []string{"Workers = -1", "0 for one a core"}},
		{func(c *client.Config) { c.RequestTimeout = -1 },
			[]string{"RequestTimeout = -1ns", "0 for 5 s"}},
		{func(c *client.Config) { c.RetryMax = -1 }, []string{"RetryMax = -1ns", "0 for 30 s"}},
		{func(c *client.Config) { c.RetryMax = 31 }, []string{"RetryMax = 31ns", "at least 1 ms"}},
	}
	for _, tt := range tests {
		cfg := good
		tt.edit(&cfg)
		c, err := client.New(cfg)
		if !errors.Is(err, client.ErrConfig) || c != nil {
			t.Errorf("got %v, want %v that says %q", err, client.ErrConfig, tt.says)
			continue
		}
		for _, s := range tt.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("got %q, want %q in it", err, s)
			}
		}
	}
	if _, err := client.New(good); err != nil {
		t.Errorf("a good config: %v", err)
	}
	for _, prefix := range []string{"", "_INBOX_d", "_INBOX.app"} {
		cfg := good
		cfg.Bus, cfg.Conn = nil, inboxAt(prefix)
		if _, err := client.New(cfg); err != nil {
			t.Errorf("a connection with the inbox prefix %q: %v", prefix, err)
		}
	}
}

// inboxAt returns a connection that was never made, with an inbox prefix.
func inboxAt(prefix string) *nats.Conn {
	return &nats.Conn{Opts: nats.Options{InboxPrefix: prefix}}
}

// lossless is an objective without a loss.
type lossless int

func (l lossless) Dim() int { return int(l) }
