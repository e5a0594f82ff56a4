package page

import (
	"net"
	"sync"
)

// connections is the largest number of connections at the same time. A Raspberry Pi has little
// memory, and each connection takes some 10 KB.
const connections = 16

// A queue accepts as many connections at once as it has places. Other connections wait in the
// system's queue.
type queue struct {
	net.Listener
	free   chan struct{}
	closed chan struct{}
	once   sync.Once
}

func bounded(l net.Listener) net.Listener {
	return &queue{Listener: l, free: make(chan struct{}, connections), closed: make(chan struct{})}
}

// Accept implements net.Listener.
func (q *queue) Accept() (net.Conn, error) {
	select {
	case q.free <- struct{}{}:
	case <-q.closed:
		return nil, net.ErrClosed
	}
	c, err := q.Listener.Accept()
	if err != nil {
		<-q.free
		return nil, err
	}
	return &counted{Conn: c, leave: sync.OnceFunc(func() { <-q.free })}, nil
}

// Close implements net.Listener.
func (q *queue) Close() error {
	q.once.Do(func() { close(q.closed) })
	return q.Listener.Close()
}

// A counted connection makes room for another when it is closed.
type counted struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
