//go:build linux

package scaling

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/internal/subjects"
)

// TestConnections measures how much server memory idle devices cost, and how much processor time an
// announcement to all devices costs the server.
func TestConnections(t *testing.T) {
	const connections, announcements = 1000, 20
	s := begin(t, "A server")
	subject := subjects.Announce("other", 0)
	var conns []*nats.Conn
	subscribe := func(n int) {
		for range n {
			nc := s.connect(fmt.Sprint("d", len(conns)), "device:change-me-3", []string{"4222"})
			if _, err := nc.Subscribe(subject, func(*nats.Msg) {}); err != nil {
				t.Fatal(err)
			}
			if err := nc.Flush(); err != nil {
				t.Fatal(err)
			}
			conns = append(conns, nc)
		}
	}
	subscribe(50) // the first connections' one-time costs do not count
	server := s.processes["server"]
	before := server.resident()
	subscribe(connections)
	each := (server.resident() - before) / connections
	lead := s.connect("coordinator", "coordinator:change-me-2", []string{"4222"})
	work := server.worked()
	for i := range announcements {
		if err := lead.Publish(subject, make([]byte, 120)); err != nil {
			t.Fatal(err)
		}
		s.until("an announcement everywhere", func() bool {
			return !slices.ContainsFunc(conns, func(nc *nats.Conn) bool {
				return nc.Stats().InMsgs <= uint64(i)
			})
		})
	}
	delivery := (server.worked() - work) / time.Duration(announcements*len(conns))
	t.Logf("a connection takes %d bytes of the server's memory, a delivery %v of its processors",
		each, delivery)
	if each > 200_000 || delivery > time.Millisecond {
		t.Error("want at most 200 kB and 1 ms")
	}
}

// worked is the processor time that a process has taken.
func (p *process) worked() time.Duration {
	p.s.t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		p.s.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ") // after the name
	sum := 0
	for _, field := range strings.Fields(rest)[11:13] { // user and system, in ticks of 10 ms
		ticks, err := strconv.Atoi(field)
		if err != nil {
			p.s.t.Fatal(err)
		}
		sum += ticks
	}
	return time.Duration(sum) * 10 * time.Millisecond
}

// resident is the memory of a process, in bytes.
func (p *process) resident() int {
	p.s.t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	if err != nil {
		p.s.t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(b))[1])
	if err != nil {
		p.s.t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
