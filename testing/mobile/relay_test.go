package mobile

import (
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zofl/zofl/client/mobile"
)

// A relay forwards connections to a server and counts bytes.
type relay struct {
	listen          net.Listener
	up, down, dials atomic.Int64
	all             sync.WaitGroup
	last            atomic.Pointer[net.Conn] // last connection of a client
}

// say sends the last client a line as if from the server.
func (r *relay) say(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(*r.last.Load(), line); err != nil {
		t.Fatal(err)
	}
}

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listen: l}
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			r.last.Store(&from)
			r.dials.Add(1)
			server, err := net.Dial("tcp", to)
			if err != nil {
				from.Close()
				continue
			}
			r.all.Go(func() { r.pass(server, from, &r.up) })
			r.all.Go(func() { r.pass(from, server, &r.down) })
		}
	}()
	t.Cleanup(func() { l.Close() })
	return r
}

func (r *relay) pass(to, from net.Conn, n *atomic.Int64) {
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		got, err := from.Read(buf)
		n.Add(int64(got))
		if err != nil {
			return
		}
		if _, err := to.Write(buf[:got]); err != nil {
			// The other side is gone, but what comes still counts.
			for err = nil; err == nil; n.Add(int64(got)) {
				got, err = from.Read(buf)
			}
			return
		}
	}
}

// TestLiveBytes checks that a client counts the bytes of its socket, including TLS, across
// reconnects.
func TestLiveBytes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	through := newRelay(t, strings.TrimPrefix(s.url, "tls://"))
	l := s.lead(testPlan(t, "bytes", 1000, 1, 1, 300))
	at := *s
	at.url = "tls://" + through.listen.Addr().String()
	p := at.phone("bytes", "phone", 1000)
	p.until("some rounds", func() bool { return p.Contributions() > 20 })
	p.Reconnect()
	p.returned("")
	l.agrees(p.Client, "phone")
	through.all.Wait() // both sides have closed
	up, down := through.up.Load(), through.down.Load()
	if sent := p.BytesSent(); sent != up || sent < 300*20 {
		t.Errorf("%d bytes sent, the relay took %d", sent, up)
	}
	// Bytes that came while it closed were not read.
	if received := p.BytesReceived(); received > down || received < down-2000 || received < 300*20 {
		t.Errorf("%d bytes received, the relay gave %d", received, down)
	}
	if n := through.dials.Load(); n != 2 {
		t.Errorf("%d connections, want one and another", n)
	}
}

// TestLiveConnectionEnds checks that a device that waits for an announcement notices at once that
// its connection has ended for good, and opens another connection.
func TestLiveConnectionEnds(t *testing.T) {
	t.Parallel()
	s := newOpenSite(t)
	through := newRelay(t, strings.TrimPrefix(s.url, "nats://"))
	two := testPlan(t, "ends", 100, 2, 2, 10)
	two.Reannounce = uint32(time.Hour / time.Millisecond)
	l := s.lead(two)
	at := *s
	at.url = "nats://" + through.listen.Addr().String()
	p := at.phone("ends", "phone", 100)
	p.until("waiting", func() bool { return p.State() == mobile.StateWaiting })
	through.say(t, "-ERR 'Too Much of Something'\r\n")
	p.until("told", func() bool {
		said := p.ear.said(mobile.CodeOffline)
		return len(said) > 0 && strings.Contains(said[0], "Too Much of Something")
	})
	p.until("connected again", func() bool {
		return through.dials.Load() > 1 && p.State() == mobile.StateWaiting
	})
	other := s.phone("ends", "other", 100)
	for _, p := range []*phone{p, other} {
		p.returned("")
		l.agrees(p.Client, p.id)
	}
}
