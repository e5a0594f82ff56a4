package broker

import (
	"fmt"
	"net"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// dialWithin bounds the time to open a TCP connection. A custom dialer does not learn the
// nats.Timeout of its connection.
const dialWithin = readyWithin

// Traffic counts the bytes that a connection writes to its socket and reads from it. These bytes
// are everything that the TCP connection carries: greetings, PING and PONG, protocol lines and,
// with TLS, handshakes and TLS records; but no TCP or IP headers. A Traffic keeps counting after a
// reconnect.
//
// Any goroutine may read a Traffic at any time. A Traffic counts the bytes of a nats.Conn when the
// nats.Conn flushes them.
type Traffic struct {
	up, down, dials atomic.Int64
}

var _ nats.CustomDialer = (*Traffic)(nil)

// Up returns the bytes written, from client to server.
func (t *Traffic) Up() int64 { return t.up.Load() }

// Down returns the bytes read, from server to client.
func (t *Traffic) Down() int64 { return t.down.Load() }

// Dials returns how many sockets the connection has opened: 1 plus the reconnects.
func (t *Traffic) Dials() int64 { return t.dials.Load() }

// Dial opens a TCP connection whose bytes t counts. Other code can pass nats.SetCustomDialer(t) to
// nats.Connect, so that t counts the bytes of its connection.
func (t *Traffic) Dial(network, address string) (net.Conn, error) {
	c, err := net.DialTimeout(network, address, dialWithin)
	if err != nil {
		return nil, err
	}
	return t.Count(c), nil
}

// Count returns a connection like c whose bytes t counts.
func (t *Traffic) Count(c net.Conn) net.Conn {
	t.dials.Add(1)
	return &countedConn{Conn: c, traffic: t}
}

// Dial connects to the server at url, as [Broker.Connect] connects to a server of this package.
func Dial(url, name string, more ...nats.Option) (*nats.Conn, *Traffic, error) {
	t := &Traffic{}
	more = append([]nats.Option{nats.SetCustomDialer(t)}, more...)
	return connect(url, name, t, more)
}

func connect(url, name string, t *Traffic, opts []nats.Option) (*nats.Conn, *Traffic, error) {
	nc, err := nats.Connect(url, append([]nats.Option{nats.Name(name), nats.Timeout(readyWithin)},
		opts...)...)
	if err != nil {
		return nil, nil, fmt.Errorf("broker: connect %q: %w", name, err)
	}
	return nc, t, nil
}

// pipes hands out counted in-process connections.
type pipes struct {
	broker  *Broker
	traffic *Traffic
}

func (p pipes) InProcessConn() (net.Conn, error) {
	c, err := p.broker.InProcessConn()
	if err != nil {
		return nil, err
	}
	return p.traffic.Count(c), nil
}

// A countedConn counts the bytes that pass through it.
type countedConn struct {
	net.Conn
	traffic *Traffic
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.traffic.down.Add(int64(n))
	return n, err
}

// Write counts the bytes before it writes them. The peer's answer may arrive, and another goroutine
// may read the count, before this goroutine runs again.
func (c *countedConn) Write(p []byte) (int, error) {
	c.traffic.up.Add(int64(len(p)))
	n, err := c.Conn.Write(p)
	c.traffic.up.Add(int64(n - len(p)))
	return n, err
}
