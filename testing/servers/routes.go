//go:build unix

package servers

import (
	"net"
	"regexp"
	"sync"
	"testing"
)

// routes is a proxy through which other servers reach a server of a cluster. It can hold the bytes
// of one direction, while those of the other pass. Held bytes pass later, as TCP sends again what
// was lost.
type routes struct {
	listener net.Listener
	server   string // its name
	target   string // its address

	mu    sync.Mutex // guards what follows
	links map[*link]bool
	mute  map[string]bool // senders whose bytes are held
	wake  chan struct{}   // closed when mute changes
}

// A link is a connection that another server made.
type link struct {
	ends   [2]net.Conn // of the server that made it, and of the server that took it
	mu     sync.Mutex
	dialer string // its name, once it has said it
}

func newRoutes(t testing.TB, server, target string) *routes {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &routes{listener: listener, server: server, target: target, links: map[*link]bool{},
		mute: map[string]bool{}, wake: make(chan struct{})}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", target)
			if err != nil { // the server is down
				near.Close()
				continue
			}
			l := &link{ends: [2]net.Conn{near, far}}
			r.mu.Lock()
			r.links[l] = true
			r.mu.Unlock()
			for end := range 2 {
				all.Go(func() { r.pump(l, end) })
			}
		}
	})
	t.Cleanup(func() {
		listener.Close()
		r.hold(nil)
		r.mu.Lock()
		for l := range r.links {
			l.close()
		}
		r.mu.Unlock()
		all.Wait()
	})
	return r
}

func (l *link) close() {
	l.ends[0].Close()
	l.ends[1].Close()
}

// hold holds what the named servers send from now on.
func (r *routes) hold(names map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mute = names
	close(r.wake)
	r.wake = make(chan struct{})
}

// named finds the name of a server in what it says first on a route.
var named = regexp.MustCompile(`"server_name":"([^"]+)"`)

// pump forwards what one end of a link sends.
func (r *routes) pump(l *link, end int) {
	defer func() {
		l.close()
		r.mu.Lock()
		delete(r.links, l)
		r.mu.Unlock()
	}()
	b := make([]byte, 64<<10)
	for {
		n, err := l.ends[end].Read(b)
		if n > 0 && end == 0 {
			l.learn(b[:n])
		}
		for r.held(l, end) {
		}
		if _, failed := l.ends[1-end].Write(b[:n]); failed != nil || err != nil {
			return
		}
	}
}

// learn notes who made the link.
func (l *link) learn(said []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dialer == "" {
		if m := named.FindSubmatch(said); m != nil {
			l.dialer = string(m[1])
		}
	}
}

// held says whether the bytes of one end are held. If they are, held returns when that may have
// changed.
func (r *routes) held(l *link, end int) bool {
	l.mu.Lock()
	from := l.dialer
	l.mu.Unlock()
	if end == 1 {
		from = r.server
	}
	r.mu.Lock()
	held, wake := r.mute[from], r.wake
	r.mu.Unlock()
	if held {
		<-wake
	}
	return held
}

// Mute holds all that servers send to the others, while they hear what the others send. Without
// servers it holds nothing. The cluster must have [Options.Routed].
func (c *Cluster) Mute(servers ...*Server) {
	names := map[string]bool{}
	for _, s := range servers {
		names[s.Name] = true
	}
	for _, s := range c.Servers {
		s.routes.hold(names)
	}
}
