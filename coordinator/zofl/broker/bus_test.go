package broker

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/bus/bustest"
)

// The NATS bus must pass what every bus must, over both kinds of connection.
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

// A mute is a socket whose reader hears nothing once it has said PING, when it is armed.
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

// A connection that breaks while an answer is awaited is offline, as it connects again;
// one that was closed is closed.
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
