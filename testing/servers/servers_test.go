//go:build unix

package servers

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// TestServers checks that acknowledged messages exist after a crash, and that another server
// replaces a stopped leader.
func TestServers(t *testing.T) {
	for _, n := range []int{1, 3} {
		c := Start(t, n)
		js, err := jetstream.New(c.Connect(t, "test"))
		if err != nil {
			t.Fatal(err)
		}
		cfg := jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, Replicas: n}
		if _, err := js.CreateStream(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		if _, err := js.Publish(t.Context(), "s", []byte("kept")); err != nil {
			t.Fatal(err)
		}
		first := c.Leader(t, "S")
		first.Kill()
		if n == 1 {
			first.Restart(t)
		} else if second := c.Leader(t, "S"); second == first {
			t.Errorf("%s was killed and leads", first.Name)
		} else {
			second.Pause()
			first.Restart(t)
			if third := c.Leader(t, "S"); third == second {
				t.Errorf("%s is stopped and leads", second.Name)
			}
			second.Continue()
		}
		var got string
		Eventually(t, "the message", func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			s, err := js.Stream(ctx, "S")
			if err != nil {
				return err
			}
			m, err := s.GetMsg(ctx, 1)
			if err == nil {
				got = string(m.Data)
			}
			return err
		})
		if got != "kept" {
			t.Errorf("%d servers: got %q, want the message that was acknowledged", n, got)
		}
	}
}

// TestPowerCut checks that a power cut takes what a server did not sync, and nothing else.
func TestPowerCut(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a nats-server")
	}
	for _, sync := range []string{"always", "2m"} {
		c := StartWith(t, 1, Options{Sync: sync, Recorded: true})
		js, err := jetstream.New(c.Connect(t, "test"))
		if err != nil {
			t.Fatal(err)
		}
		cfg := jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}
		if _, err := js.CreateStream(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := js.Publish(t.Context(), "s", []byte("acknowledged")); err != nil {
				t.Fatal(err)
			}
		}
		c.Servers[0].PowerCut(t)
		c.Servers[0].Restart(t)
		c.Ready(t)
		if js, err = jetstream.New(c.Connect(t, "test")); err != nil {
			t.Fatal(err)
		}
		s, err := js.Stream(t.Context(), "S")
		if kept := err == nil && s.CachedInfo().State.Msgs == 3; kept != (sync == "always") {
			t.Errorf("sync_interval %s: the stream has its messages: %t (%v)", sync, kept, err)
		}
	}
}

// TestCut checks that a server of which one direction is cut leads no stream any more, and joins
// the others again afterwards.
func TestCut(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for elections")
	}
	for _, heard := range []bool{false, true} {
		c := StartWith(t, 3, Options{Routed: true})
		js, err := jetstream.New(c.Connect(t, "test"))
		if err != nil {
			t.Fatal(err)
		}
		cfg := jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, Replicas: 3}
		if _, err := js.CreateStream(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		first := c.Leader(t, "S")
		c.Cut(first, heard)
		c.Elsewhere(t, "S", first)
		c.Heal()
		Eventually(t, "all three servers", func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			s, err := js.Stream(ctx, "S")
			if err != nil {
				return err
			}
			for _, r := range s.CachedInfo().Cluster.Replicas {
				if !r.Current {
					return errors.New(r.Name + " lags")
				}
			}
			return nil
		})
	}
}
