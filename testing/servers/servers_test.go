//go:build unix

package servers

import (
	"context"
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
