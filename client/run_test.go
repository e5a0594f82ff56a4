package client_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// A second Run at the same time is refused, and Run leaves no goroutine behind.
func TestRunTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		if err := d.Run(t.Context()); !errors.Is(err, client.ErrRunning) {
			t.Errorf("second Run: got %v, want %v", err, client.ErrRunning)
		}
		h.round()
		h.announce()
		h.take()
		d.stop()
		h.commit()
		h.announce()
		h.silent()
		d.run()
		if h.joins != 3 {
			t.Errorf("%d joins, want 3: for the plan, and each Run for what is open", h.joins)
		}
		h.announce()
		h.one(wire.Contribution)
		h.agrees(d, h.last())
	})
}

// An error of the Recorder ends Run, in every state of the client, and Run returns that error once.
func TestRecorderStopsRun(t *testing.T) {
	errEnough := errors.New("enough")
	for _, state := range []client.State{client.Joining, client.CatchingUp, client.Waiting,
		client.Working, client.Paused, client.Ended} {
		t.Run(state.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := newHost(t, testPlan(small))
				if state == client.Joining {
					h.answers(func(m bus.Message) bool { h.publish(m.Reply, nil); return true })
				}
				stopped := false
				d := h.device("d0", bowlLoss(small, 0), func(c *client.Config) {
					c.Recorder = client.RecorderFunc(func(p client.Progress) error {
						if p.State == state && !stopped {
							stopped = true
							return errEnough
						}
						return nil
					})
				})
				pass(0)
				if state > client.Waiting || state == client.CatchingUp {
					h.commit()
					h.commit()
					h.announce(func(a *wire.Announcement) {
						if state == client.Paused {
							a.State = wire.Paused
						}
					})
					h.end()
					h.announce(func(a *wire.Announcement) { a.State = wire.Ended })
				}
				if err := d.result(); !errors.Is(err, errEnough) {
					t.Errorf("Run returned %v, want %v", err, errEnough)
				}
			})
		})
	}
}

// Any goroutine may call Params and Digest at any time. Params and Digest return the state after
// one record.
func TestParamsMeanwhile(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const dim, rounds = 5000, 30
		h := newHost(t, testPlan(dim))
		var d *device
		d = h.newDevice("d0", objective.Func(dim, func(_ context.Context, x []float32,
			b objective.Batch) (float64, error) {
			if n, err := d.Params(make([]float32, dim)); n != b.N-1 || err != nil {
				t.Errorf("Params within the loss: %d, %v, want record %d", n, err, b.N-1)
			}
			return bowl(x[:10], 0, b), nil
		}))
		type seen struct {
			n      uint64
			digest [32]byte
		}
		readers, results := 3, make(chan []seen)
		quit := make(chan struct{})
		for i := range readers {
			go func() {
				var all []seen
				x := make([]float32, dim)
				for done := false; !done; {
					if i == 0 {
						n, digest := d.Digest()
						all = append(all, seen{n, digest})
					} else if n, err := d.Params(x); err != nil {
						t.Error(err)
					} else if n > 0 {
						all = append(all, seen{n, replica.Digest(x)})
					}
					select {
					case <-quit:
						done = true
					case <-time.After(time.Millisecond):
					}
				}
				results <- all
			}()
		}
		d.run()
		for range rounds {
			h.round()
			pass(time.Millisecond)
		}
		h.announce()
		close(quit)
		digests := map[uint64][32]byte{}
		for n := range h.last() {
			digests[n+1] = h.witness(n + 1).Digest()
		}
		for range readers {
			for _, s := range <-results {
				if s.n > 0 && s.digest != digests[s.n] {
					t.Errorf("digest %x after record %d, want %x", s.digest, s.n, digests[s.n])
				}
			}
		}
	})
}

func TestParams(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.newDevice("d0", bowlLoss(small, 0))
		x := make([]float32, small)
		x[0] = 42
		if n, err := d.Params(x); n != 0 || err != nil || x[0] != 42 {
			t.Errorf("before the plan: got %d, %v and %v, want 0, no error and what was there",
				n, err, x[0])
		}
		if n, _ := d.Digest(); n != 0 {
			t.Errorf("Digest before the plan: got record %d, want 0", n)
		}
		for _, n := range []int{0, small - 1, small + 1} {
			if _, err := d.Params(make([]float32, n)); err == nil ||
				!strings.Contains(err.Error(), "each of the 100 parameters") {
				t.Errorf("%d elements: got %v, want an error", n, err)
			}
		}
		d.run()
		if n, err := d.Params(x); n != 1 || err != nil || x[0] == 42 {
			t.Errorf("after the plan: got %d, %v and %v, want 1, no error and the model",
				n, err, x[0])
		}
		stop := errors.New("seen")
		err := d.View(func(n uint64, seen []float32) error {
			if n != 1 || !slices.Equal(seen, x) {
				t.Errorf("View shows record %d and %v, want 1 and the model", n, seen)
			}
			return stop
		})
		if err != stop {
			t.Errorf("View returned %v, want what its function returned", err)
		}
	})
}

// A loss that does not change causes one warning.
func TestZerosWarning(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log strings.Builder
		h := newHost(t, testPlan(small))
		flat := true
		h.device("d0", objective.Func(small, func(_ context.Context, x []float32,
			b objective.Batch) (float64, error) {
			if flat {
				return 1, nil
			}
			return bowl(x, 0, b), nil
		}), func(c *client.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		rounds := func(n int) int {
			for range n {
				h.round()
			}
			synctest.Wait()
			return strings.Count(log.String(), "raise mu")
		}
		for _, step := range []struct {
			flat         bool
			rounds, want int
		}{{true, 2, 0}, {false, 1, 0}, {true, 2, 0}, {true, 1, 1}, {true, 5, 1}} {
			flat = step.flat
			if got := rounds(step.rounds); got != step.want {
				t.Errorf("%+v: %d warnings", step, got)
			}
		}
	})
}
