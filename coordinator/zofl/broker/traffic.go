package broker

import (
	"fmt"
	"net"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// dialWithin is how long a TCP connection may take to be made. A custom dialer
// is not told the nats.Timeout of its connection.
const dialWithin = readyWithin

// Traffic counts the bytes that one connection writes to its socket and reads
// from it: everything that the TCP connection carries, so greetings, PING and
// PONG, protocol lines and, with TLS, handshake and records, but no TCP or IP
// headers. It goes on counting when the connection is made again.
//
// It can be read at any time, from any goroutine. What a Conn has written is
// counted once it was flushed.
type Traffic struct {
	up, down, dials atomic.Int64
}

var _ nats.CustomDialer = (*Traffic)(nil)

// Up returns the bytes written, from client to server.
func (t *Traffic) Up() int64 { return t.up.Load() }

// Down returns the bytes read, from server to client.
func (t *Traffic) Down() int64 { return t.down.Load() }

// Dials returns how many sockets were opened: 1 plus the reconnects.
func (t *Traffic) Dials() int64 { return t.dials.Load() }

// Dial opens a TCP connection that counts; nats.SetCustomDialer(t) makes a
// connection that is set up elsewhere count here.
func (t *Traffic) Dial(network, address string) (net.Conn, error) {
	c, err := net.DialTimeout(network, address, dialWithin)
	if err != nil {
		return nil, err
	}
	return t.count(c), nil
}

func (t *Traffic) count(c net.Conn) net.Conn {
	t.dials.Add(1)
	return &countedConn{Conn: c, traffic: t}
}

// Dial connects to the server at url under the given name, as [Broker.Connect]
// does to one of this package. More options may be given.
func Dial(url, name string, more ...nats.Option) (*nats.Conn, *Traffic, error) {
	t := &Traffic{}
	more = append([]nats.Option{nats.SetCustomDialer(t)}, more...)
	return connect(url, name, t, more)
}

func connect(url, name string, t *Traffic, opts []nats.Option) (*nats.Conn, *Traffic, error) {
	nc, err := nats.Connect(url, append([]nats.Option{nats.Name(name), nats.Timeout(readyWithin)}, opts...)...)
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
	return p.traffic.count(c), nil
}

// A countedConn adds what passes through it to its traffic.
type countedConn struct {
	net.Conn
	traffic *Traffic
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.traffic.down.Add(int64(n))
	return n, err
}

// Write counts first: the answer may be read, and the count asked for, before
// this goroutine runs again.
func (c *countedConn) Write(p []byte) (int, error) {
	c.traffic.up.Add(int64(len(p)))
	n, err := c.Conn.Write(p)
	c.traffic.up.Add(int64(n - len(p)))
	return n, err
}
