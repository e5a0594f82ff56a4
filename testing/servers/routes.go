//go:build unix

package servers

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
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
	cut   map[way]bool
	wake  chan struct{} // closed when cut changes
}

// A way is a direction between two servers, which it names.
type way struct{ from, to string }

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
		wake: make(chan struct{})}
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

// hold holds what is sent these ways from now on.
func (r *routes) hold(ways map[way]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = ways
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
	w := way{l.dialer, r.server}
	l.mu.Unlock()
	if end == 1 {
		w = way{w.to, w.from}
	}
	r.mu.Lock()
	held, wake := r.cut[w], r.wake
	r.mu.Unlock()
	if held {
		<-wake
	}
	return held
}

// Cut holds what one server sends to others, while the others' bytes still reach it. With heard, it
// is the other way round: the server is heard, and hears nothing. Heal ends both. The cluster must
// have [Options.Routed].
func (c *Cluster) Cut(server *Server, heard bool) {
	ways := map[way]bool{}
	for _, other := range c.Servers {
		if heard {
			ways[way{other.Name, server.Name}] = true
		} else {
			ways[way{server.Name, other.Name}] = true
		}
	}
	c.hold(ways)
}

// Heal lets pass what Cut holds.
func (c *Cluster) Heal() { c.hold(nil) }

func (c *Cluster) hold(ways map[way]bool) {
	for _, s := range c.Servers {
		s.routes.hold(ways)
	}
}

// Elsewhere waits until servers other than one agree that another server leads a stream.
func (c *Cluster) Elsewhere(t testing.TB, stream string, than *Server) {
	t.Helper()
	for _, s := range c.Servers {
		if s == than {
			continue
		}
		js, err := jetstream.New(connect(t, s.URL, "test",
			[]nats.Option{nats.IgnoreDiscoveredServers()}))
		if err != nil {
			t.Fatal(err)
		}
		Eventually(t, "another leader of "+stream, func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			s, err := js.Stream(ctx, stream)
			if err != nil {
				return err
			}
			if info := s.CachedInfo().Cluster; info == nil || info.Leader == "" ||
				info.Leader == than.Name {
				return fmt.Errorf("the leader is %+v", info)
			}
			return nil
		})
	}
}
