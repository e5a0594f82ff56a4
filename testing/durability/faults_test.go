//go:build unix

package durability

import (
	"context"
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/testing/servers"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// These tests mostly wait for elections.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	m.Run()
}

// blocks are the files that hold messages, of streams and of what servers agree on.
func blocks(path string) bool { return strings.HasSuffix(path, ".blk") }

// stream says whether a file is of the stream of records.
func stream(path string) bool { return blocks(path) && strings.Contains(path, "ZO_house_LOG") }

// leader returns the server that leads the stream of records, and the two others.
func (h *house) leader() (first *servers.Server, others []*servers.Server) {
	h.t.Helper()
	first = h.cluster.Leader(h.t, "ZO_house_LOG")
	for _, s := range h.cluster.Servers {
		if s != first {
			others = append(others, s)
		}
	}
	return first, others
}

// restart starts killed servers.
func (h *house) restart(list ...*servers.Server) {
	h.t.Helper()
	for _, s := range list {
		s.Restart(h.t)
	}
}

// cutAll cuts the power of all servers at one moment, and starts them again.
func (h *house) cutAll() {
	h.t.Helper()
	for _, s := range h.cluster.Servers {
		s.Kill()
	}
	for _, s := range h.cluster.Servers {
		s.PowerCut(h.t)
	}
	h.restart(h.cluster.Servers...)
}

// withNewStores does what docs/recover.md says where the servers that were at fault come to no
// quorum with the others, as now and then they do not: it moves their stores aside.
func (h *house) withNewStores(faulty ...*servers.Server) {
	if h.goesOn(30 * time.Second) {
		return
	}
	for _, s := range faulty {
		s.Kill()
		s.SetAside(h.t)
	}
	h.restart(faulty...)
}

// TestFaults holds runs against faults that lose nothing where servers sync every message. Each run
// goes on by itself, with every record that was acknowledged.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("runs clusters of servers")
	}
	t.Parallel()
	for name, fault := range map[string]func(h *house){
		"SIGKILL": func(h *house) {
			first, others := h.leader()
			first.Kill()
			h.more(5)
			others[0].Kill() // no majority
			h.restart(first, others[0])
		},
		"SIGSTOP": func(h *house) {
			first, others := h.leader()
			first.Pause()
			h.more(5)
			others[0].Pause() // no majority
			first.Continue()
			h.more(5)
			others[0].Continue()
		},
		"a leader that is not heard": func(h *house) {
			first, _ := h.leader()
			h.cluster.Cut(first, false)
			h.cluster.Elsewhere(h.t, "ZO_house_LOG", first)
			h.cluster.Heal()
		},
		"a leader that does not hear": func(h *house) {
			first, _ := h.leader()
			h.cluster.Cut(first, true)
			h.cluster.Elsewhere(h.t, "ZO_house_LOG", first)
			h.cluster.Heal()
		},
		"power cut of a server": func(h *house) {
			first, _ := h.leader()
			first.PowerCut(h.t)
			h.more(5)
			h.restart(first)
		},
		"power cut of two servers": func(h *house) {
			first, others := h.leader()
			first.PowerCut(h.t)
			others[0].PowerCut(h.t)
			h.restart(first, others[0])
		},
		"power cut of all servers": func(h *house) {
			h.cutAll()
		},
		"power cut of a stopped server": func(h *house) { // Jepsen's way to two histories
			first, others := h.leader()
			others[0].Pause()
			h.more(5)
			first.PowerCut(h.t)
			others[0].Continue()
			h.restart(first)
		},
		"damaged blocks of a server": func(h *house) {
			_, others := h.leader()
			others[0].Kill()
			if others[0].Damage(h.t, stream) == 0 {
				h.t.Error("no block was damaged")
			}
			h.more(5)
			h.restart(others[0])
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, servers.Options{Recorded: strings.Contains(name, "power"),
				Routed: strings.Contains(name, "hear")})
			fault(h)
			h.more(5)
			if missing := h.judge(); missing > 0 || len(h.said) > 0 {
				t.Errorf("%d acknowledged records are missing, said %q", missing, h.said)
			}
		})
	}
}

// TestLosses holds runs against faults that take acknowledged records. A coordinator says so, or a
// device does and the run pauses.
func TestLosses(t *testing.T) {
	if testing.Short() {
		t.Skip("runs clusters of servers")
	}
	t.Parallel()
	for name, test := range map[string]struct {
		sync  string
		fault func(h *house)
		loses bool // for certain
	}{
		"power cut of all servers that sync every two minutes": {"2m", func(h *house) {
			h.cutAll()
		}, true},
		"power cut of all servers that sync every second": {"1s", func(h *house) {
			h.more(100)
			h.cutAll()
		}, false},
		"power cut of two servers that sync every two minutes": {"2m", func(h *house) {
			first, others := h.leader()
			first.Kill()
			others[0].Kill()
			first.PowerCut(h.t)
			others[0].PowerCut(h.t)
			h.restart(first, others[0])
			h.withNewStores(first, others[0])
		}, false},
		"damaged blocks of two servers": {"always", func(h *house) {
			first, others := h.leader()
			damaged := []*servers.Server{first, others[0]}
			for _, s := range damaged {
				s.Kill()
				if s.Damage(h.t, blocks) == 0 {
					h.t.Error("no block was damaged")
				}
			}
			h.restart(damaged...)
			h.withNewStores(damaged...)
		}, false},
		"damaged blocks of all servers": {"always", func(h *house) {
			for _, s := range h.cluster.Servers {
				s.Kill()
				if s.Damage(h.t, blocks) == 0 {
					h.t.Error("no block was damaged")
				}
			}
			h.restart(h.cluster.Servers...)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, servers.Options{Sync: test.sync, Recorded: test.sync != "always"})
			test.fault(h)
			h.settle()
			if missing := h.judge(); test.loses && missing == 0 {
				t.Error("nothing was lost: the fault does not reach the log")
			}
		})
	}
}

// TestDevicesClaim cuts the power of servers whose disks lie, so that the log and all that it
// remembers are set back together. The coordinators that run on say so and end. One that starts
// then cannot know it; the devices do, and the run pauses.
func TestDevicesClaim(t *testing.T) {
	if testing.Short() {
		t.Skip("runs clusters of servers")
	}
	t.Parallel()
	h := newHouse(t, servers.Options{Recorded: true})
	for _, s := range h.cluster.Servers {
		s.Pause()
	}
	for _, s := range h.cluster.Servers {
		s.Lie(t)
		s.Continue()
	}
	h.more(20)
	h.cutAll()
	h.settle()
	claimed := func() bool {
		return slices.ContainsFunc(h.words(), func(said string) bool {
			return strings.HasPrefix(said, "device d") && strings.Contains(said, "restore")
		})
	}
	if !claimed() { // one that ran on may have led again, and paused already
		h.mu.Lock()
		h.loss, h.said = h.lost.Load(), nil
		h.mu.Unlock()
		h.parties.Go(func() { h.serve(h.ctx, "another") })
		h.await("a device that says what it has", claimed)
	}
	if h.judge() < 10 {
		t.Error("nothing was lost: the fault does not reach the log")
	}
}

// TestSnapshotsDamaged damages the snapshots of two of three servers, so that they do not start. A
// person who reads the log's words moves their stores aside, and nothing is lost.
func TestSnapshotsDamaged(t *testing.T) {
	if testing.Short() {
		t.Skip("runs clusters of servers")
	}
	t.Parallel()
	h := newHouse(t, servers.Options{})
	list := h.cluster.Servers
	for _, s := range list {
		s.Terminate() // which makes snapshots
	}
	for _, s := range list[:2] {
		damaged := s.Damage(t, func(path string) bool { return strings.Contains(path, "/snapshots/") })
		if damaged == 0 {
			t.Error("no snapshot was damaged")
		}
	}
	h.restart(list[2])
	nc := h.cluster.Connect(t, "person")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	_, err := jetlog.Open(ctx, jetlog.Config{Conn: nc, Run: run, Existing: true})
	if !errors.Is(err, runlog.ErrUnavailable) || !strings.Contains(err.Error(), "snapshot corrupt") ||
		!strings.Contains(err.Error(), "move its store aside") {
		t.Errorf("got %v, want the way out", err)
	}
	for _, s := range list[:2] {
		s.SetAside(t)
		h.restart(s)
	}
	h.more(5)
	if missing := h.judge(); missing > 0 || len(h.said) > 0 {
		t.Errorf("%d acknowledged records are missing, said %q", missing, h.said)
	}
}
