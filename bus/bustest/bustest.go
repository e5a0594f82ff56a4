// Package bustest tests any implementation of bus.Bus: bus.Memory, and the NATS bus over a real
// server.
package bustest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
)

// patience bounds the wait for a message that must arrive. A test that passes never waits that
// long.
const patience = 2 * time.Minute

// Run tests the buses that open returns. Each subtest opens one bus, and that bus must receive its
// own messages and no others. Run does not close a bus. open must register the closing in the
// cleanup of the subtest, so that no bus receives messages of the next subtest.
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

// subscribe subscribes, and returns a channel that is large enough for all messages of a test.
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

// answer publishes from a handler. A handler may not call Fatal.
func answer(t *testing.T, b bus.Bus, subject string, data []byte) {
	if err := b.Publish(subject, data); err != nil {
		t.Errorf("got %v, want no error", err)
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
			time.Sleep(time.Millisecond) // the bus is reconnecting
		}
		cancel()
		publish(t, b, "t.again", "heard")
		wantData(t, received, "heard")
		if got, err := request(b, "t.ask", "please"); err != nil || got != "please" {
			t.Errorf("got %q, %v, want an answer", got, err)
		}
	}
}
