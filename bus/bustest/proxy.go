package bustest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// A Proxy is a TCP proxy in front of a server. A Proxy can close connections, delay bytes, and
// swallow bytes. A connection whose bytes the Proxy swallows stays open, but neither side receives
// anything any more, as when a NAT router forgets a connection or a phone changes its network. Any
// goroutine may call the methods of a Proxy.
type Proxy struct {
	listener net.Listener
	server   string
	all      sync.WaitGroup

	mu      sync.Mutex // guards what follows, and deaf of links
	links   map[*proxied]bool
	deaf    bool          // bytes of new connections are swallowed, too
	barred  bool          // new connections are closed at once
	gate    chan struct{} // closed: bytes pass
	dialled int
}

// proxied is a connection through a Proxy.
type proxied struct {
	ends   [2]net.Conn
	deaf   bool
	once   sync.Once
	closed chan struct{}
}

// NewProxy returns a proxy to a server's address, host:port. The proxy closes when the test ends.
func NewProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	p, err := StartProxy(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// StartProxy returns a proxy to a server's address, host:port. Close it.
func StartProxy(server string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, server: server, links: map[*proxied]bool{},
		gate: make(chan struct{})}
	close(p.gate)
	p.all.Go(p.accept)
	return p, nil
}

// Close ends the proxy and its connections.
func (p *Proxy) Close() {
	p.listener.Close()
	p.Bar(true)
	p.all.Wait()
}

// Address returns the address at which the proxy listens, host:port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Swallow makes the proxy swallow all further bytes of the present connections. With forever, the
// proxy also swallows the bytes of later connections, until Heal.
func (p *Proxy) Swallow(forever bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = forever
	for l := range p.links {
		l.deaf = true
	}
}

// Break closes all present connections.
func (p *Proxy) Break() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

// Bar(true) closes all present connections, and each later connection at once, until a call of
// Bar(false).
func (p *Proxy) Bar(barred bool) {
	p.mu.Lock()
	p.barred = barred
	p.mu.Unlock()
	if barred {
		p.Break()
	}
}

// Freeze makes the proxy hold all bytes back until Heal. Connections stay open meanwhile.
func (p *Proxy) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gate:
		p.gate = make(chan struct{})
	default:
	}
}

// Heal ends Freeze and the effect of Swallow on later connections. The proxy still swallows the
// bytes of connections that were open at the call of Swallow.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = false
	select {
	case <-p.gate:
	default:
		close(p.gate)
	}
}

// Dialled returns how many connections the proxy has accepted.
func (p *Proxy) Dialled() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dialled
}

func (p *Proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", p.server)
		if err != nil {
			near.Close()
			continue
		}
		l := &proxied{ends: [2]net.Conn{near, far}, closed: make(chan struct{})}
		p.mu.Lock()
		l.deaf = p.deaf
		p.links[l] = true
		p.dialled++
		if p.barred {
			l.close()
		}
		p.mu.Unlock()
		p.all.Go(func() { p.copy(l, near, far) })
		p.all.Go(func() { p.copy(l, far, near) })
	}
}

// copy passes bytes from one side to the other until one of them closes. If the proxy swallows the
// connection's bytes, the other side stays open.
func (p *Proxy) copy(l *proxied, to, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		deaf, gate := l.deaf, p.gate
		p.mu.Unlock()
		if deaf {
			io.Copy(io.Discard, from)
			return
		}
		if err == nil {
			select {
			case <-gate:
				_, err = to.Write(buf[:n])
			case <-l.closed:
				err = net.ErrClosed
			}
		}
		if err != nil {
			p.mu.Lock()
			delete(p.links, l)
			p.mu.Unlock()
			l.close()
			return
		}
	}
}

func (l *proxied) close() {
	l.once.Do(func() {
		close(l.closed)
		l.ends[0].Close()
		l.ends[1].Close()
	})
}
