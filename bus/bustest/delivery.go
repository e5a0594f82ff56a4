package bustest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/zofl/zofl/bus"
)

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
