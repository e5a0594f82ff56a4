package client_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

// A lyingHost is a coordinator of secure=sum that changes its log as it likes.
type lyingHost struct {
	*host
	keys    atomic.Int32 // keys that devices sent
	attempt uint32
	log     strings.Builder // what the device logs
	store   *memStore       // the device's
}

func newLyingHost(t *testing.T, edits ...func(*plan.Plan)) *lyingHost {
	p := testPlan(small)
	p.Secure, p.Members, p.Target, p.Quorum, p.MaxScalar = 1, 6, 6, 5, 100
	for _, edit := range edits {
		edit(p)
	}
	h := &lyingHost{host: newHost(t, p), store: newStore(t)}
	for i := range uint32(6) {
		h.slots[fmt.Sprint("d", i)] = i
	}
	h.subscribe(subjects.AllSteps(runName), func(bus.Message) { h.keys.Add(1) })
	return h
}

// joins runs device d0.
func (h *lyingHost) joins(edits ...func(*client.Config)) *device {
	h.t.Helper()
	logs := func(c *client.Config) { c.Logger = slog.New(slog.NewTextHandler(&h.log, nil)) }
	return h.device("d0", bowlLoss(small, 0), append(edits, logs)...)
}

// change stores a change of the plan, which no honest coordinator would store.
func (h *lyingHost) change(fields ...string) {
	h.t.Helper()
	change := plan.Change{}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		if err := planfile.SetChange(&change, name, value); err != nil {
			h.t.Fatal(err)
		}
	}
	h.append(wire.Record{Kind: wire.KindChange, Change: &change})
}

// asks opens another attempt, and says whether the device takes part. A device that does not take
// part declines by policy, and says why.
func (h *lyingHost) asks(d *device) (takesPart bool) {
	h.t.Helper()
	before := h.keys.Load()
	h.attempt++
	d.progress()
	h.announce(func(a *wire.Announcement) { a.Attempt = h.attempt })
	if h.keys.Load() > before {
		h.silent()
		return true
	}
	h.declines(wire.DeclinePolicy)
	var fault *plan.Error
	for _, p := range d.progress() {
		if p.Declined == wire.DeclinePolicy && errors.As(p.Err, &fault) {
			return false
		}
	}
	h.t.Error("the device does not say why it takes no part")
	return false
}

// beyond stores records beyond the horizon of a device that is away, and serves the snapshot of the
// last.
func (h *lyingHost) beyond() {
	h.t.Helper()
	for range 40 {
		h.commit()
	}
	l := h.library(h.last())
	h.t.Cleanup(func() {
		if len(l.asked) == 0 {
			h.t.Error("no device asked for the snapshot")
		}
	})
}

// says checks that the device's log has a line with all of these words.
func (h *lyingHost) says(words ...string) {
	h.t.Helper()
lines:
	for line := range strings.Lines(h.log.String()) {
		for _, word := range words {
			if !strings.Contains(line, word) {
				continue lines
			}
		}
		return
	}
	h.t.Errorf("no line has %q in\n%s", words, h.log.String())
}

// another replaces the log with that of another run of the same name.
func (h *lyingHost) another(edit func(*plan.Plan)) {
	h.t.Helper()
	p := *h.plan
	edit(&p)
	h.mu.Lock()
	h.records, h.rounds, h.plan, h.waived = nil, 0, &p, true
	h.mu.Unlock()
	h.append(wire.Record{Kind: wire.KindPlan, Plan: &p})
}

// TestLoweredQuorum: a coordinator that lowers the quorum gets nothing more of a device, whatever
// it does next. The device says so, and takes part again once the quorum is back.
func TestLoweredQuorum(t *testing.T) {
	for name, lie := range map[string]func(h *lyingHost, d *device) *device{
		"change": func(h *lyingHost, d *device) *device {
			h.change("quorum=3", "target=3")
			return d
		},
		"restart after the change": func(h *lyingHost, d *device) *device {
			h.change("quorum=3", "target=3")
			h.asks(d)
			d.stop()
			return h.joins(with(h.store))
		},
		"raised and lowered before a round": func(h *lyingHost, d *device) *device {
			h.change("quorum=6")
			h.change("quorum=5")
			return d
		},
		"restart after a raise and the change": func(h *lyingHost, d *device) *device {
			h.change("quorum=6")
			h.asks(d)
			h.change("quorum=5")
			h.asks(d)
			d.stop()
			return h.joins(with(h.store))
		},
		"restart, and the item is damaged": func(h *lyingHost, d *device) *device {
			h.change("quorum=3", "target=3")
			h.asks(d)
			d.stop()
			h.store.put("sums", []byte("damaged"))
			return h.joins(with(h.store))
		},
		"raised between two rollbacks": func(h *lyingHost, d *device) *device {
			n := h.last()
			h.change("target=5")
			h.rollback(n)
			h.change("quorum=6")
			h.rollback(n)
			return d
		},
		"rollback to before the raise": func(h *lyingHost, d *device) *device {
			n := h.last()
			h.change("quorum=6")
			h.asks(d)
			h.rollback(n)
			return d
		},
		"snapshot from after the change": func(h *lyingHost, d *device) *device {
			d.stop()
			h.change("quorum=3", "target=3")
			h.beyond()
			return h.joins(with(h.store), horizon)
		},
		"snapshot from after the change, a new device": func(h *lyingHost, d *device) *device {
			d.stop()
			h.change("quorum=3", "target=3")
			h.beyond()
			return h.joins(horizon)
		},
		"snapshot from after a raise and the change": func(h *lyingHost, d *device) *device {
			h.change("quorum=6")
			h.asks(d)
			d.stop()
			h.change("quorum=5")
			h.beyond()
			return h.joins(with(h.store), horizon)
		},
		"another log": func(h *lyingHost, d *device) *device {
			h.another(func(p *plan.Plan) { p.Quorum, p.Target, p.Members = 3, 3, 3 })
			for range 3 {
				h.announce()
				pass(time.Minute)
			}
			h.take()
			return d
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := newLyingHost(t)
				d := h.joins(with(h.store))
				if !h.asks(d) {
					t.Fatal("the device takes no part with the quorum that it joined with")
				}
				if d = lie(h, d); h.asks(d) {
					t.Fatal("the device takes part")
				}
				h.says("level=WARN", "no part in this sum", "quorum", "zofl change quorum=")
				h.change("quorum=6", "target=6", "members=6")
				if !h.asks(d) {
					t.Error("the quorum is back, and the device takes no part")
				}
			})
		})
	}
}

// TestChangedSums: a device tells of each change of the quorum and the target, and of no other.
func TestChangedSums(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newLyingHost(t)
		d := h.joins()
		h.change("quorum=5") // a record that nobody could make
		h.change("target=5")
		if !h.asks(d) {
			t.Fatal("a lower target is no lower quorum")
		}
		h.says("level=WARN", "record=3", "quorum 5, target 6", "quorum 5, target 5")
		h.change("target=6")
		h.asks(d)
		h.says("level=INFO", "record=4", "quorum 5, target 5", "quorum 5, target 6")
		if n := strings.Count(h.log.String(), "another quorum or target"); n != 2 {
			t.Errorf("%d lines about two changes:\n%s", n, h.log.String())
		}
	})
}

// TestWithoutMasks: a device that was in a run with secure=sum takes part in no other run of that
// name without masks, or without the agreement on lists. A device without a past does.
func TestWithoutMasks(t *testing.T) {
	agreed := func(p *plan.Plan) { p.SetSecret(bytes.Repeat([]byte{9}, 32)); p.SecureLists = 1 }
	knows := func(c *client.Config) { c.RunKey = bytes.Repeat([]byte{9}, 32) }
	for name, tt := range map[string]struct {
		first, then func(*plan.Plan)
		says        string
	}{
		"secure": {func(*plan.Plan) {}, func(p *plan.Plan) { p.Secure = 0 },
			"plan: secure = none: this device was in a run of this name with secure=sum"},
		"lists": {agreed, func(p *plan.Plan) { p.SecureLists = 0 },
			"plan: secure_lists = believed: this device was in a run of this name with secure_lists"},
	} {
		for _, restarts := range []bool{false, true} {
			t.Run(fmt.Sprint(name, restarts), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					h := newLyingHost(t, tt.first)
					options := []func(*client.Config){with(h.store)}
					if h.plan.Private() {
						options = append(options, knows)
					}
					d := h.joins(options...)
					if !h.asks(d) {
						t.Fatal("the device takes no part")
					}
					if restarts {
						d.stop()
						h.store.put("checkpoint", nil) // no more than the item of the sums is left
					}
					h.another(tt.then)
					if restarts {
						d = h.joins(options...)
					}
					for range 3 {
						h.announce()
						pass(time.Minute)
					}
					var fault *plan.Error
					if err := d.result(); !errors.As(err, &fault) || !strings.Contains(err.Error(), tt.says) {
						t.Errorf("Run: %v, want %q", err, tt.says)
					}
					h.silent()
					if d := h.device("d1", bowlLoss(small, 0), options[1:]...); d.now().Err != nil {
						t.Errorf("a new device: %v", d.now().Err)
					}
				})
			})
		}
	}
}
