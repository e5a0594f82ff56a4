package soak

import (
	"net"
	"sync"
)

// A proxy forwards the connections of one party to the server. Any goroutine may call its
// methods.
type proxy struct {
	listen net.Listener
	to     string
	all    sync.WaitGroup

	mu     sync.Mutex // guards what follows
	links  map[*proxied]bool
	barred bool          // connections are closed at once
	gate   chan struct{} // closed: bytes pass
}

// A proxied is one connection.
type proxied struct {
	from, to net.Conn
	once     sync.Once
	closed   chan struct{}
}

func newProxy(to string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listen: l, to: to, links: map[*proxied]bool{}, gate: make(chan struct{})}
	close(p.gate)
	p.all.Go(p.accept)
	return p, nil
}

func (p *proxy) url() string { return "nats://" + p.listen.Addr().String() }

func (p *proxy) accept() {
	for {
		from, err := p.listen.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", p.to)
		if err != nil {
			from.Close()
			continue
		}
		l := &proxied{from: from, to: to, closed: make(chan struct{})}
		p.mu.Lock()
		barred := p.barred
		p.links[l] = true
		p.mu.Unlock()
		p.all.Go(func() { p.pass(l, l.to, l.from) })
		p.all.Go(func() { p.pass(l, l.from, l.to) })
		if barred {
			l.close()
		}
	}
}

func (l *proxied) close() {
	l.once.Do(func() {
		close(l.closed)
		l.from.Close()
		l.to.Close()
	})
}

// pass copies bytes in one direction until the connection closes.
func (p *proxy) pass(l *proxied, to, from net.Conn) {
	defer func() {
		l.close()
		p.mu.Lock()
		delete(p.links, l)
		p.mu.Unlock()
	}()
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		gate := p.gate
		p.mu.Unlock()
		select {
		case <-gate:
		case <-l.closed:
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// cut closes the connections that there are.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

// bar cuts, and closes new connections at once until it is called with false.
func (p *proxy) bar(barred bool) {
	p.mu.Lock()
	p.barred = barred
	p.mu.Unlock()
	if barred {
		p.cut()
	}
}

// freeze holds bytes back until thaw: connections stay open, and nothing arrives.
func (p *proxy) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate = make(chan struct{})
}

func (p *proxy) thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gate:
	default:
		close(p.gate)
	}
}

func (p *proxy) close() {
	p.listen.Close()
	p.cut()
	p.all.Wait()
}
