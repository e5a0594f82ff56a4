package bustest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// A Proxy is a TCP proxy in front of a server. It can swallow what passes: the connections
// stay open, and neither side hears the other again, as when a NAT router forgets them or
// the network of a phone changes. Its methods may be called from any goroutine.
type Proxy struct {
	listener net.Listener
	server   string

	mu      sync.Mutex // guards what follows
	links   []*proxied
	deaf    bool // new connections are swallowed, too
	dialled int
}

// proxied is a connection through a Proxy.
type proxied struct {
	ends [2]net.Conn

	mu   sync.Mutex // guards deaf
	deaf bool
}

// NewProxy returns a proxy to a server's address, host:port, that ends with the test.
func NewProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: listener, server: server}
	var done sync.WaitGroup
	done.Go(func() { p.accept(&done) })
	t.Cleanup(func() {
		listener.Close()
		p.mu.Lock()
		for _, l := range p.links {
			l.close()
		}
		p.mu.Unlock()
		done.Wait()
	})
	return p
}

// Address is where the proxy listens, host:port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Swallow makes all present connections half-open. With forever, later ones are swallowed
// as well, until Heal.
func (p *Proxy) Swallow(forever bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = forever
	for _, l := range p.links {
		l.swallow()
	}
}

// Break closes all present connections.
func (p *Proxy) Break() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.links {
		l.close()
	}
	p.links = nil
}

// Heal lets later connections through. Those that were swallowed stay so.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = false
}

// Dialled returns how many connections the proxy has accepted.
func (p *Proxy) Dialled() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dialled
}

func (p *Proxy) accept(done *sync.WaitGroup) {
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
		p.mu.Lock()
		l := &proxied{ends: [2]net.Conn{near, far}, deaf: p.deaf}
		p.links = append(p.links, l)
		p.dialled++
		p.mu.Unlock()
		done.Go(func() { l.copy(near, far) })
		done.Go(func() { l.copy(far, near) })
	}
}

// copy passes bytes on until an end closes. A half-open connection stays open to the other
// side.
func (l *proxied) copy(to, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if l.swallows() {
			io.Copy(io.Discard, from)
			return
		}
		if err == nil {
			_, err = to.Write(buf[:n])
		}
		if err != nil {
			l.close()
			return
		}
	}
}

func (l *proxied) swallow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deaf = true
}

func (l *proxied) swallows() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deaf
}

func (l *proxied) close() {
	l.ends[0].Close()
	l.ends[1].Close()
}
