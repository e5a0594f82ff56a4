package bustest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
)

func testRequest(t *testing.T, b bus.Bus) {
	subscribeFunc(t, b, "t.ask.*", func(m bus.Message) {
		if m.Reply == "" {
			t.Errorf("got no reply subject on a request")
		}
		answer(t, b, m.Reply, append([]byte(m.Subject+" "), m.Data...))
	})
	for i := range 10 {
		subject := fmt.Sprintf("t.ask.%d", i)
		got, err := request(b, subject, "please")
		if want := subject + " please"; err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

func testFirstAnswer(t *testing.T, b bus.Bus) {
	var late sync.WaitGroup // second answers, which may come after the first
	late.Add(10)
	defer late.Wait()
	subscribeFunc(t, b, "t.ask", func(m bus.Message) {
		defer late.Done()
		for _, data := range []string{"first", "second"} {
			answer(t, b, m.Reply, []byte(data))
		}
	})
	for range 10 {
		got, err := request(b, "t.ask", "")
		if err != nil || got != "first" {
			t.Errorf("got %q, %v, want first", got, err)
		}
	}
}

// testGoodAnswer checks that RequestGood skips answers that good refuses. If good refuses all, the
// request must end with its context.
func testGoodAnswer(t *testing.T, b bus.Bus) {
	subscribeFunc(t, b, "ask", func(m bus.Message) {
		for _, answer := range []string{"bad", "", "good " + string(m.Data), "late"} {
			publish(t, b, m.Reply, answer)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	passed := 0
	answer, err := bus.RequestGood(ctx, b, "ask", []byte("x"), func(answer []byte) bool {
		passed++
		return strings.HasPrefix(string(answer), "good")
	})
	if err != nil || string(answer) != "good x" || passed != 3 {
		t.Errorf("got %q, %v after %d answers", answer, err, passed)
	}
	ended, end := context.WithCancel(ctx)
	_, err = bus.RequestGood(ended, b, "ask", nil, func(answer []byte) bool {
		if string(answer) == "late" {
			end()
		}
		return false
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("no good answer: got %v", err)
	}
	_, err = bus.RequestGood(ctx, b, "nobody", nil, func([]byte) bool { return true })
	if !errors.Is(err, bus.ErrNoResponders) {
		t.Errorf("nobody: got %v", err)
	}
}

// testManyAnswers checks that the bus queues a bounded number of answers for good. The test also
// checks that RequestGood finds a good answer after the bus has dropped others.
func testManyAnswers(t *testing.T, b bus.Bus) {
	const bad, few = 20_000, 1000
	sent, judged, passed := make(chan struct{}), make(chan struct{}), 0
	subscribeFunc(t, b, "ask", func(m bus.Message) {
		for range bad {
			publish(t, b, m.Reply, "bad")
		}
		if err := bus.Check(t.Context(), b, m.Reply); err != nil {
			t.Error(err)
		}
		close(sent)
		<-judged
		publish(t, b, m.Reply, "good")
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	answer, err := bus.RequestGood(ctx, b, "ask", nil, func(answer []byte) bool {
		if <-sent; string(answer) == "good" {
			return true
		}
		if passed++; passed == few {
			close(judged)
		}
		return false
	})
	if err != nil || string(answer) != "good" || passed < few || passed == bad {
		t.Errorf("got %q, %v after %d answers", answer, err, passed)
	}
}

func testNoResponders(t *testing.T, b bus.Bus) {
	sub, _ := subscribe(t, b, "t.ask.me")
	if err := sub.Unsubscribe(); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	for _, subject := range []string{"t.nobody", "t.ask.me"} {
		if _, err := request(b, subject, ""); !errors.Is(err, bus.ErrNoResponders) {
			t.Errorf("%s: got %v, want %v", subject, err, bus.ErrNoResponders)
		}
	}
}

func testCancel(t *testing.T, b bus.Bus) {
	_, asked := subscribe(t, b, "t.silent")
	ctx, cancel := context.WithCancel(context.Background())
	failed := make(chan error, 1)
	go func() {
		_, err := b.Request(ctx, "t.silent", nil)
		failed <- err
	}()
	m := receive(t, asked)
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	publish(t, b, m.Reply, "too late")

	if _, err := b.Request(ctx, "t.silent", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	short, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := b.Request(short, "t.silent", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
}
