package bus_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/bus/bustest"
)

func TestMemory(t *testing.T) {
	bustest.Run(t, func(t *testing.T) bus.Bus {
		m := bus.NewMemory()
		t.Cleanup(m.Close)
		return m
	})
}

func subscribe(t *testing.T, m *bus.Memory, subject string,
	handle func(bus.Message)) bus.Subscription {
	t.Helper()
	sub, err := m.Subscribe(subject, handle)
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

// While a handler does not return, MemoryPending messages wait in order. The subscription drops and
// counts further messages.
func TestMemoryDropsBeyondPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := bus.NewMemory()
		release := make(chan struct{})
		got := 0
		slow := subscribe(t, m, "t.slow", func(msg bus.Message) {
			<-release
			if want := fmt.Sprint(got); string(msg.Data) != want {
				t.Errorf("got %s, want %s", msg.Data, want)
			}
			got++
		})
		quick := subscribe(t, m, "t.>", func(bus.Message) {})
		const dropped = 3
		for i := range 1 + bus.MemoryPending + dropped {
			if err := m.Publish("t.slow", fmt.Append(nil, i)); err != nil {
				t.Fatal(err)
			}
			if i%1000 == 0 {
				synctest.Wait() // the slow handler has the first, the quick one has all
			}
		}
		if n := slow.Dropped(); n != dropped {
			t.Errorf("got %d dropped, want %d", n, dropped)
		}
		if n := quick.Dropped(); n != 0 {
			t.Errorf("got %d dropped, want 0", n)
		}
		close(release)
		synctest.Wait()
		if want := 1 + bus.MemoryPending; got != want {
			t.Errorf("got %d messages, want %d", got, want)
		}
		m.Close()
	})
}

func TestMemoryUnsubscribeDiscards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := bus.NewMemory()
		calls := 0
		var sub bus.Subscription
		sub = subscribe(t, m, "t.a", func(bus.Message) {
			calls++
			if err := sub.Unsubscribe(); err != nil {
				t.Errorf("got %v, want no error", err)
			}
		})
		for range 10 {
			if err := m.Publish("t.a", nil); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		m.Close()
		if calls != 1 {
			t.Errorf("got %d calls, want 1", calls)
		}
	})
}

func TestMemoryClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := bus.NewMemory()
		sub := subscribe(t, m, "t.silent", func(bus.Message) {})
		asked := make(chan error, 1)
		go func() {
			_, err := m.Request(context.Background(), "t.silent", nil)
			asked <- err
		}()
		synctest.Wait()
		m.Close()
		m.Close()
		_, subscribed := m.Subscribe("t.a", func(bus.Message) {})
		_, requested := m.Request(context.Background(), "t.a", nil)
		for name, err := range map[string]error{
			"request in flight": <-asked,
			"Publish":           m.Publish("t.a", nil),
			"Subscribe":         subscribed,
			"Request":           requested,
			"Check":             bus.Check(context.Background(), m, "t.a"),
		} {
			if !errors.Is(err, bus.ErrClosed) {
				t.Errorf("%s: got %v, want %v", name, err, bus.ErrClosed)
			}
		}
		if err := sub.Unsubscribe(); err != nil {
			t.Errorf("Unsubscribe: got %v, want no error", err)
		}
	})
}

func TestMemoryDenies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := bus.NewMemory()
		m.DenyPublish("t.p.*")
		m.DenySubscribe("t.a.>")
		var got []string
		note := func(msg bus.Message) { got = append(got, msg.Subject) }
		subscribe(t, m, "t.a.0", note)
		subscribe(t, m, "t.*.0", note)
		for _, subject := range []string{"t.p.0", "t.a.0", "t.q.0"} {
			if err := m.Publish(subject, nil); err != nil {
				t.Errorf("%s: got %v, want no error", subject, err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := m.Request(ctx, "t.p.0", nil)
		if !errors.Is(err, bus.ErrPermission) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Request: got %v, want %v", err, bus.ErrPermission)
		}
		synctest.Wait()
		if want := "[t.a.0 t.q.0]"; fmt.Sprint(got) != want {
			t.Errorf("got %v, want %s", got, want)
		}
		for subject, want := range map[string]error{
			"t.p.0": bus.ErrPermission, "t.a.0": bus.ErrPermission, "t.a.>": bus.ErrPermission,
			"t.q.0": nil, "t.*.0": nil,
		} {
			if err := bus.Check(t.Context(), m, subject); !errors.Is(err, want) {
				t.Errorf("Check %s: got %v, want %v", subject, err, want)
			}
		}
		m.Close()
	})
}

// publishOnly is a Bus without Check.
type publishOnly struct{ bus.Bus }

func TestCheckWithoutChecker(t *testing.T) {
	if err := bus.Check(t.Context(), publishOnly{}, "t.a"); err != nil {
		t.Errorf("got %v, want no error", err)
	}
}

func BenchmarkMemoryFanOut(b *testing.B) {
	for _, n := range []int{1, 100, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := bus.NewMemory()
			defer m.Close()
			heard := make(chan struct{}, n)
			for range n {
				if _,
					err := m.Subscribe("zo.r.a.0",
					func(bus.Message) { heard <- struct{}{} }); err != nil {
					b.Fatal(err)
				}
			}
			data := make([]byte, 200)
			for b.Loop() {
				if err := m.Publish("zo.r.a.0", data); err != nil {
					b.Fatal(err)
				}
				for range n {
					<-heard
				}
			}
		})
	}
}
