package broker

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/bus/bustest"
	"github.com/zofl/zofl/coordinator/zofl/internal/await"
)

// The NATS bus must pass the tests that every bus must pass, over both kinds of connection.
func TestBusOverNATS(t *testing.T) {
	for name, cfg := range kinds {
		t.Run(name, func(t *testing.T) {
			b := run(t, cfg)
			bustest.Run(t, func(t *testing.T) bus.Bus {
				nc, _ := dial(t, b, t.Name(), nats.ReconnectBufSize(-1))
				return bus.NATS(nc)
			})
		})
	}
}

// A mute is a socket. Once armed, it delivers nothing to its reader after the reader has sent a
// PING.
type mute struct {
	net.Conn
	armed  atomic.Bool
	once   sync.Once
	said   chan struct{} // closed when it has
	unmute chan struct{}
}

func (m *mute) Dial(network, address string) (net.Conn, error) {
	conn, err := net.Dial(network, address)
	if err != nil || m.Conn != nil { // the second is as others are
		return conn, err
	}
	m.Conn = conn
	return m, nil
}

func (m *mute) Write(b []byte) (int, error) {
	if m.armed.Load() && bytes.Contains(b, []byte("PING")) {
		m.once.Do(func() { close(m.said) })
	}
	return m.Conn.Write(b)
}

func (m *mute) Read(b []byte) (int, error) {
	n, err := m.Conn.Read(b)
	select {
	case <-m.said:
		<-m.unmute
	default:
	}
	return n, err
}

// If a connection breaks during a request, the request's error says offline, because the connection
// reconnects. If the caller closed the connection, the error says closed.
func TestBusBreaks(t *testing.T) {
	b := run(t, Config{})
	m := &mute{said: make(chan struct{}), unmute: make(chan struct{})}
	nc, err := nats.Connect(b.URL(), nats.Timeout(patience), nats.SetCustomDialer(m),
		nats.ReconnectBufSize(-1))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	m.armed.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	over := bus.NATS(nc)
	checked := make(chan error, 1)
	go func() { checked <- bus.Check(ctx, over, "any") }()
	<-m.said
	if err := nc.ForceReconnect(); err != nil {
		t.Fatal(err)
	}
	err = <-checked
	close(m.unmute)
	if !errors.Is(err, bus.ErrOffline) || errors.Is(err, bus.ErrClosed) {
		t.Errorf("a connection that broke gives %v, want %v", err, bus.ErrOffline)
	}
	nc.Close()
	if err := bus.Check(ctx, over, "any"); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("a connection that was closed gives %v, want %v", err, bus.ErrClosed)
	}
}

// A check of a half-open connection fails only when the check's context ends. A check of a
// connection that is down fails earlier. After Reconnect the connection serves its subscriptions
// again.
func TestBusHalfOpen(t *testing.T) {
	b := run(t, Config{})
	proxy := bustest.NewProxy(t, strings.TrimPrefix(b.URL(), "nats://"))
	nc, err := nats.Connect("nats://"+proxy.Address(), nats.Timeout(time.Second),
		nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	over, heard := bus.NATS(nc), make(chan bus.Message, 1)
	if _, err := over.Subscribe("t", func(m bus.Message) { heard <- m }); err != nil {
		t.Fatal(err)
	}
	check := func(d time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		return bus.Check(ctx, over, "t")
	}
	if err := check(patience); err != nil {
		t.Fatal(err)
	}
	proxy.Swallow(true)
	if err := check(100 * time.Millisecond); !errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, bus.ErrOffline) {
		t.Errorf("a half-open connection gives %v, want the end of the context", err)
	}
	for range 2 { // the second does nothing: it connects already
		if err := bus.Reconnect(over); err != nil {
			t.Fatal(err)
		}
	}
	if err := check(patience); !errors.Is(err, bus.ErrOffline) {
		t.Errorf("while it connects, a check gives %v, want %v", err, bus.ErrOffline)
	}
	proxy.Heal()
	await.That(t, "it is connected again", func() bool { return check(patience) == nil })
	if err := over.Publish("t", nil); err != nil {
		t.Fatal(err)
	}
	select {
	case <-heard:
	case <-time.After(patience):
		t.Error("the subscription did not survive")
	}
	nc.Close()
	if err := bus.Reconnect(over); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("after the connection was closed: %v, want %v", err, bus.ErrClosed)
	}
}

// If a connection breaks, its requests fail at once, before their time limits.
func TestRequestBreaks(t *testing.T) {
	b := run(t, Config{})
	asked := make(chan bus.Message, 1)
	nc, _ := dial(t, b, "silent")
	if _, err := bus.NATS(nc).Subscribe("ask", func(m bus.Message) { asked <- m }); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	proxy := bustest.NewProxy(t, strings.TrimPrefix(b.URL(), "nats://"))
	nc, err := nats.Connect("nats://"+proxy.Address(), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := bus.NATS(nc).Request(ctx, "ask", nil)
		failed <- err
	}()
	<-asked
	proxy.Break()
	if err := <-failed; !errors.Is(err, bus.ErrOffline) || ctx.Err() != nil {
		t.Errorf("got %v, %v, want %v at once", err, ctx.Err(), bus.ErrOffline)
	}
}
