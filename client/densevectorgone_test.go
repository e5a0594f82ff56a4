package client_test

import (
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/wire"
)

// If a vector is gone, the device reports that once, and does not ask for the vector rapidly. A
// later record, whose vector is available, completes the state.
func TestDenseVectorGone(t *testing.T) {
	for _, tt := range denseMethods {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := densePlan(small)
				tt.edit(p)
				h := newHost(t, p)
				d := h.device("d0", bowlLoss(small, 0))
				for range p.Phases() {
					h.denseRound()
				}
				h.announce()
				h.commit()
				h.gone(0)
				h.fetched()
				h.vectors()
				d.progress()
				for range 10 {
					h.announce()
					pass(5 * time.Second)
				}
				if n := len(h.fetched()); n > 12 {
					t.Errorf("asked %d times for what is gone in 50 s of 10 announcements", n)
				}
				reported := 0
				for _, p := range d.progress() {
					if p.Err != nil && strings.Contains(p.Err.Error(), "vector gone") {
						reported++
					}
				}
				if n, _ := d.Params(make([]float32, small)); reported != 1 || n != h.last()-1 ||
					len(h.vectors()) > 0 {
					t.Errorf("reported %d times, parameters of record %d, want once, of %d",
						reported, n, h.last()-1)
				}
				for range p.Phases() {
					h.commit()
				}
				h.announce()
				h.agrees(d, h.last())
				h.oneVector()
			})
		})
	}
}

// If a run ends and its last vector is gone, the run ends for the device too, with the device's
// last whole model. The device asks more than once: one coordinator may have the vector that
// another lacks.
func TestDenseEndsWithoutVector(t *testing.T) {
	for _, tt := range []struct {
		name       string
		gone, back bool
		want       uint64 // the record of the model
	}{{"kept", false, false, 4}, {"gone", true, false, 2}, {"back", true, true, 4}} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := newHost(t, densePlan(small))
				d := h.device("d0", bowlLoss(small, 0))
				h.denseRound()
				h.announce()
				h.commit()
				h.end()
				if tt.gone {
					h.gone(0)
				}
				h.announce(func(a *wire.Announcement) { a.State = wire.Ended })
				if asked := h.fetched(); tt.gone && len(asked) == 0 {
					t.Error("asked for no vector")
				}
				if tt.back {
					pass(10 * time.Second)
					h.gone(1)
				}
				pass(2 * time.Minute)
				if err := d.result(); err != nil {
					t.Fatalf("Run returned %v", err)
				}
				if n, _ := d.Params(make([]float32, small)); n != tt.want {
					t.Errorf("parameters of record %d, want %d", n, tt.want)
				}
				if p := d.now(); p.State != client.Ended {
					t.Errorf("reported %+v, want the end", p)
				}
			})
		})
	}
}

// A device stops after the run's end, before the last vector arrived. The device fetches the vector
// when it runs again.
func TestDenseEndsLater(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, densePlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		h.denseRound()
		h.commit()
		h.end()
		h.answers(func(m bus.Message) bool {
			_, err := wire.DecodeObjectRequest(m.Data)
			return err == nil
		})
		ended := func(a *wire.Announcement) { a.State = wire.Ended }
		h.announce(ended)
		pass(time.Minute)
		d.stop()
		h.answers(nil)
		d.run()
		h.announce(ended)
		if err := d.result(); err != nil {
			t.Errorf("Run returned %v", err)
		}
		h.agrees(d, h.last())
	})
}
