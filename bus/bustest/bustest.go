// Package bustest has the tests that every bus must pass: bus.Memory, the NATS bus over
// a real server, and any other implementation of bus.Bus.
package bustest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
)

// patience bounds the wait for a message that must arrive.
const patience = 10 * time.Second

// Run tests the buses that open returns: one for each subtest, which must receive its
// own messages and no others. Run does not close them; open must register that with
// the cleanup of the subtest, so that no bus receives messages of the next.
func Run(t *testing.T, open func(t *testing.T) bus.Bus) {
	tests := []struct {
		name string
		run  func(*testing.T, bus.Bus)
	}{
		{"Delivery", testDelivery},
		{"Wildcards", testWildcards},
		{"Order", testOrder},
		{"Ownership", testOwnership},
		{"SeveralSubscriptions", testSeveral},
		{"HandlerUsesBus", testHandlerUsesBus},
		{"Unsubscribe", testUnsubscribe},
		{"UnsubscribeInHandler", testUnsubscribeInHandler},
		{"Request", testRequest},
		{"FirstAnswerWins", testFirstAnswer},
		{"GoodAnswer", testGoodAnswer},
		{"ManyAnswers", testManyAnswers},
		{"NoResponders", testNoResponders},
		{"Cancel", testCancel},
		{"Malformed", testMalformed},
		{"Check", testCheck},
		{"Reconnect", testReconnect},
		{"Concurrent", testConcurrent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

func publish(t *testing.T, b bus.Bus, subject, data string) {
	t.Helper()
	if err := b.Publish(subject, []byte(data)); err != nil {
		t.Fatalf("got %v, want no error", err)
	}
}

// subscribe delivers into a channel that never fills.
func subscribe(t *testing.T, b bus.Bus, subject string) (bus.Subscription, <-chan bus.Message) {
	t.Helper()
	received := make(chan bus.Message, 1<<14)
	sub := subscribeFunc(t, b, subject, func(m bus.Message) { received <- m })
	return sub, received
}

func subscribeFunc(t *testing.T, b bus.Bus, subject string,
	handle func(bus.Message)) bus.Subscription {
	t.Helper()
	sub, err := b.Subscribe(subject, handle)
	if err != nil {
		t.Fatalf("got %v, want no error", err)
	}
	return sub
}

func receive(t *testing.T, from <-chan bus.Message) bus.Message {
	t.Helper()
	select {
	case m := <-from:
		return m
	case <-time.After(patience):
		t.Fatal("got no message, want one")
		panic("unreachable")
	}
}

// wantData receives a message and compares its data.
func wantData(t *testing.T, from <-chan bus.Message, want string) {
	t.Helper()
	if got := string(receive(t, from).Data); got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
}

// request makes a request with a timeout of patience.
func request(b bus.Bus, subject, data string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	answer, err := b.Request(ctx, subject, []byte(data))
	return string(answer), err
}

func testDelivery(t *testing.T, b bus.Bus) {
	sub, received := subscribe(t, b, "t.one")
	publish(t, b, "t.one", "hello")
	m := receive(t, received)
	if m.Subject != "t.one" || m.Reply != "" || string(m.Data) != "hello" {
		t.Errorf("got %+v, want hello on t.one without a reply subject", m)
	}
	publish(t, b, "t.one", "")
	if m := receive(t, received); len(m.Data) != 0 {
		t.Errorf("got %q, want no data", m.Data)
	}
	if n := sub.Dropped(); n != 0 {
		t.Errorf("got %d dropped, want 0", n)
	}
}

func testWildcards(t *testing.T, b bus.Bus) {
	for pattern, tests := range map[string]struct{ yes, no []string }{
		"w.a":     {[]string{"w.a"}, []string{"w", "w.b", "w.a.a", "w.aa", "W.a"}},
		"w.*":     {[]string{"w.a", "w.b"}, []string{"w", "w.a.b", "v.a"}},
		"w.*.c":   {[]string{"w.a.c", "w.b.c"}, []string{"w.a", "w.a.b", "w.a.b.c", "w.c"}},
		"w.>":     {[]string{"w.a", "w.a.b", "w.a.b.c"}, []string{"w", "v.a", "ww.a"}},
		"w.*.>":   {[]string{"w.a.b", "w.a.b.c"}, []string{"w.a", "w"}},
		"*.a":     {[]string{"w.a", "v.a"}, []string{"a", "w.b", "w.a.a"}},
		"w.a*":    {nil, []string{"w.ab", "w.a"}},
		"w.*.b.*": {[]string{"w.a.b.c"}, []string{"w.a.c.c", "w.a.b"}},
	} {
		sub, received := subscribe(t, b, pattern)
		for _, subject := range append(tests.no, tests.yes...) {
			publish(t, b, subject, "")
		}
		// Messages that do not match were published first, so they would arrive first.
		for _, want := range tests.yes {
			if got := receive(t, received).Subject; got != want {
				t.Errorf("%s: got %s, want %s", pattern, got, want)
			}
		}
		if err := sub.Unsubscribe(); err != nil {
			t.Errorf("got %v, want no error", err)
		}
		if n := len(received); n != 0 {
			t.Errorf("%s: got %d messages more, want none", pattern, n)
		}
	}
}

func testOrder(t *testing.T, b bus.Bus) {
	_, received := subscribe(t, b, "t.order.*")
	const n = 5000
	for i := range n {
		publish(t, b, fmt.Sprintf("t.order.%d", i%7), fmt.Sprint(i))
	}
	for i := range n {
		wantData(t, received, fmt.Sprint(i))
	}
}

func testOwnership(t *testing.T, b bus.Bus) {
	_, received := subscribe(t, b, "t.own")
	data := []byte("first")
	for range 2 {
		if err := b.Publish("t.own", data); err != nil {
			t.Fatal(err)
		}
		copy(data, "later")
	}
	first := receive(t, received)
	second := receive(t, received)
	if string(first.Data) != "first" || string(second.Data) != "later" {
		t.Errorf("got %q and %q, want first and later", first.Data, second.Data)
	}
}

func testSeveral(t *testing.T, b bus.Bus) {
	_, one := subscribe(t, b, "t.several")
	_, two := subscribe(t, b, "t.several")
	_, all := subscribe(t, b, "t.>")
	publish(t, b, "t.several", "x")
	for _, received := range []<-chan bus.Message{one, two, all} {
		wantData(t, received, "x")
	}
}

func testHandlerUsesBus(t *testing.T, b bus.Bus) {
	_, received := subscribe(t, b, "t.out")
	subscribeFunc(t, b, "t.echo", func(m bus.Message) { answer(t, b, m.Reply, m.Data) })
	subscribeFunc(t, b, "t.in", func(m bus.Message) {
		data, err := request(b, "t.echo", string(m.Data))
		if err != nil {
			t.Errorf("got %v, want no error", err)
		}
		answer(t, b, "t.out", []byte(data))
	})
	publish(t, b, "t.in", "through")
	wantData(t, received, "through")
}

// answer publishes from a handler, which may not call Fatal.
func answer(t *testing.T, b bus.Bus, subject string, data []byte) {
	if err := b.Publish(subject, data); err != nil {
		t.Errorf("got %v, want no error", err)
	}
}

func testUnsubscribe(t *testing.T, b bus.Bus) {
	sub, received := subscribe(t, b, "t.unsub")
	_, marker := subscribe(t, b, "t.marker")
	publish(t, b, "t.unsub", "before")
	wantData(t, received, "before")
	for range 2 {
		if err := sub.Unsubscribe(); err != nil {
			t.Errorf("got %v, want no error", err)
		}
	}
	publish(t, b, "t.unsub", "after")
	publish(t, b, "t.marker", "")
	receive(t, marker)
	if len(received) != 0 {
		t.Errorf("got %q after Unsubscribe, want nothing", (<-received).Data)
	}
	if n := sub.Dropped(); n != 0 {
		t.Errorf("got %d dropped, want 0", n)
	}
}

func testUnsubscribeInHandler(t *testing.T, b bus.Bus) {
	var calls atomic.Int32
	subs := make(chan bus.Subscription, 1)
	left := make(chan bus.Message, 1)
	sub := subscribeFunc(t, b, "t.once", func(m bus.Message) {
		if calls.Add(1) > 1 {
			return
		}
		if err := (<-subs).Unsubscribe(); err != nil {
			t.Errorf("got %v, want no error", err)
		}
		left <- m
	})
	_, marker := subscribe(t, b, "t.marker")
	for range 100 {
		publish(t, b, "t.once", "x")
	}
	subs <- sub
	receive(t, left)
	publish(t, b, "t.once", "x")
	publish(t, b, "t.marker", "")
	receive(t, marker)
	if n := calls.Load(); n != 1 {
		t.Errorf("got %d calls, want 1", n)
	}
}

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

// testGoodAnswer: answers that are not good are passed over, and the request ends with its context
// if none is.
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

// testManyAnswers: a bounded number of answers waits to be judged, and after others were dropped a
// good one is found.
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

func testMalformed(t *testing.T, b bus.Bus) {
	malformed := []string{"", ".", "a.", ".a", "a..b", "a b", "a\tb", "a\r\nb"}
	for _, subject := range append(malformed, ">.a", "a.>.b") {
		if _, err := b.Subscribe(subject, func(bus.Message) {}); !errors.Is(err, bus.ErrSubject) {
			t.Errorf("Subscribe %q: got %v, want %v", subject, err, bus.ErrSubject)
		}
	}
	for _, subject := range append(malformed, "*", ">", "a.*", "a.>", "a.*.b") {
		if err := b.Publish(subject, nil); !errors.Is(err, bus.ErrSubject) {
			t.Errorf("Publish %q: got %v, want %v", subject, err, bus.ErrSubject)
		}
		if _, err := request(b, subject, ""); !errors.Is(err, bus.ErrSubject) {
			t.Errorf("Request %q: got %v, want %v", subject, err, bus.ErrSubject)
		}
	}
}

func testCheck(t *testing.T, b bus.Bus) {
	subscribe(t, b, "t.allowed")
	publish(t, b, "t.allowed", "")
	if err := bus.Check(context.Background(), b, "t.allowed"); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	cancel()
	if err := bus.Check(ctx, b, "t.allowed"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// testReconnect checks that a bus serves its subscriptions and requests again after its
// connection was dropped.
func testReconnect(t *testing.T, b bus.Bus) {
	_, received := subscribe(t, b, "t.again")
	subscribeFunc(t, b, "t.ask", func(m bus.Message) { answer(t, b, m.Reply, m.Data) })
	for range 3 {
		if err := bus.Reconnect(b); err != nil {
			t.Fatalf("got %v, want no error", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		for bus.Check(ctx, b, "t.again") != nil && ctx.Err() == nil {
			time.Sleep(time.Millisecond) // it connects
		}
		cancel()
		publish(t, b, "t.again", "heard")
		wantData(t, received, "heard")
		if got, err := request(b, "t.ask", "please"); err != nil || got != "please" {
			t.Errorf("got %q, %v, want an answer", got, err)
		}
	}
}

// testConcurrent is for the race detector; it also checks that handlers of one
// subscription never overlap.
func testConcurrent(t *testing.T, b bus.Bus) {
	const publishers, each = 8, 200
	var running, overlaps, calls atomic.Int32
	done := make(chan bus.Message, 1)
	subscribeFunc(t, b, "t.many.*", func(m bus.Message) {
		if running.Add(1) != 1 {
			overlaps.Add(1)
		}
		running.Add(-1)
		if calls.Add(1) == publishers*each {
			done <- m
		}
	})
	for p := range publishers {
		go func() {
			for range each {
				answer(t, b, fmt.Sprintf("t.many.%d", p), []byte("x"))
			}
		}()
	}
	receive(t, done)
	if n := overlaps.Load(); n != 0 {
		t.Errorf("got %d overlapping calls, want 0", n)
	}
}
