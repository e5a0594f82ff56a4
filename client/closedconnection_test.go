package client_test

import (
	"errors"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
)

// A denied subject ends Run, whichever request shows the denial to the device.
func TestPermissions(t *testing.T) {
	tests := []struct {
		name  string
		deny  func(*bus.Memory)
		after time.Duration
	}{
		{"join", func(m *bus.Memory) { m.DenyPublish("zo.t.j.*") }, 5 * time.Second},
		{"announcements", func(m *bus.Memory) { m.DenySubscribe("zo.t.a.*") }, 0},
		{"catch-up", func(m *bus.Memory) { m.DenyPublish("zo.t.c.*") }, 5 * time.Second},
		{"replies", func(m *bus.Memory) { m.DenyPublish("zo.t.p.>") }, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := newHost(t, testPlan(small))
				tt.deny(h.bus)
				d := h.device("d0", bowlLoss(small, 0))
				h.commit()
				h.commit()
				if tt.name != "catch-up" {
					h.announce(h.bring(2))
				} else {
					h.announce()
				}
				pass(tt.after)
				if err := d.result(); !errors.Is(err, bus.ErrPermission) {
					t.Errorf("Run returned %v, want %v", err, bus.ErrPermission)
				}
			})
		})
	}
}

// A connection that is closed for good ends Run, both before Run begins and while Run waits.
func TestClosed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		h.bus.Close()
		pass(20 * time.Second)
		if err := d.result(); !errors.Is(err, bus.ErrClosed) {
			t.Errorf("Run returned %v, want %v", err, bus.ErrClosed)
		}
		d = h.device("d1", bowlLoss(small, 0))
		if err := d.result(); !errors.Is(err, bus.ErrClosed) {
			t.Errorf("Run returned %v, want %v", err, bus.ErrClosed)
		}
	})
}

// A closed connection also ends Run when there is a reply to send.
func TestClosedWhileWorking(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, testPlan(small)), newMoody(t)
		d := h.device("d0", o)
		query := time.Second
		o.mood = slow(&query)
		h.announce()
		h.bus.Close()
		pass(3 * time.Second)
		if err := d.result(); !errors.Is(err, bus.ErrClosed) {
			t.Errorf("Run returned %v, want %v", err, bus.ErrClosed)
		}
	})
}
