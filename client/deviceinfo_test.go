package client_test

import (
	"errors"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/deviceinfo"
)

// hears notes what devices tell the host when they join.
func (h *host) hears(told *[]deviceinfo.Device) {
	h.answers(func(m bus.Message) bool {
		if r, err := wire.DecodeJoinRequest(m.Data); err == nil {
			_, tells, _ := r.Known()
			if d, _, ok := deviceinfo.Of(tells); ok {
				*told = append(*told, d)
			}
		}
		return false
	})
}

// A device tells its operator what the app says when the device joins, and later what changed. The
// device tells changes neither often, nor for each percent of the battery.
func TestAbout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		var told []deviceinfo.Device
		h.hears(&told)
		var now atomic.Pointer[deviceinfo.Device]
		phone := deviceinfo.Device{Program: "pantry 1.4", Platform: "android/arm64", Battery: 80,
			Power: deviceinfo.OnBattery, Network: deviceinfo.Unmetered}
		now.Store(&phone)
		h.device("d0", bowlLoss(small, 0), func(c *client.Config) {
			c.About = func() deviceinfo.Device { return *now.Load() }
		})
		after := func(seconds int, edit func(*deviceinfo.Device)) {
			next := *now.Load()
			edit(&next)
			now.Store(&next)
			for range seconds { // otherwise the device would ask for its place again
				time.Sleep(time.Second) // of the bubble's clock
				h.announce()
			}
			synctest.Wait()
		}
		want := []deviceinfo.Device{phone}
		if told = slices.Compact(told); !slices.Equal(told, want) {
			t.Fatalf("joining it told %+v, want %+v", told, want)
		}
		told = nil
		after(1, func(d *deviceinfo.Device) { d.Network = deviceinfo.Metered })
		after(1, func(d *deviceinfo.Device) { d.Battery = 70 })
		if len(told) != 0 {
			t.Errorf("within a minute it told %+v", told)
		}
		after(60, func(*deviceinfo.Device) {})
		phone.Network, phone.Battery = deviceinfo.Metered, 70
		want[0] = phone
		if !slices.Equal(told, want) {
			t.Errorf("after a minute it told %+v, want %+v", told, want)
		}
		told = nil
		after(120, func(d *deviceinfo.Device) { d.Battery = 66 })
		if len(told) != 0 {
			t.Errorf("of four percent it told %+v", told)
		}
		after(120, func(d *deviceinfo.Device) { d.Battery = 65 })
		phone.Battery = 65
		want[0] = phone
		if !slices.Equal(told, want) {
			t.Errorf("of five percent it told %+v, want %+v", told, want)
		}
	})
}

// If the app's About panics, or returns an invalid description, the device tells nothing, and takes
// part.
func TestAboutFails(t *testing.T) {
	for name, tell := range map[string]func() deviceinfo.Device{
		"nothing": nil,
		"panic":   func() deviceinfo.Device { panic("no battery") },
		"escape":  func() deviceinfo.Device { return deviceinfo.Device{Program: "\x1b[2J"} },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := newHost(t, testPlan(small))
				var told []deviceinfo.Device
				h.hears(&told)
				h.device("d0", bowlLoss(small, 0), func(c *client.Config) { c.About = tell })
				h.announce()
				h.one(wire.Contribution)
				if len(told) != 0 {
					t.Errorf("it told %+v", told)
				}
			})
		})
	}
}

// TestReport: a device sends the numbers that its app reports: the last value of each name, not
// with each announcement.
func TestReport(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		var told []deviceinfo.Values
		h.answers(func(m bus.Message) bool {
			if r, err := wire.DecodeJoinRequest(m.Data); err == nil {
				_, tells, _ := r.Known()
				if _, more, _ := deviceinfo.Of(tells); len(more) > 0 {
					told = append(told, deviceinfo.ValuesOf(more))
				}
			}
			return false
		})
		d := h.device("d0", bowlLoss(small, 0))
		report := func(name string, value float64) {
			t.Helper()
			if err := d.Report(name, value); err != nil {
				t.Error(err)
			}
		}
		for i := range 4 {
			report("heat", float64(i))
			report("train/loss", 0.5)
			h.announce()
			synctest.Wait()
		}
		time.Sleep(time.Second)
		h.announce()
		synctest.Wait()
		want := []deviceinfo.Values{{"heat": 0, "train/loss": 0.5}, {"heat": 3, "train/loss": 0.5}}
		if !reflect.DeepEqual(told, want) {
			t.Errorf("it told %v, want %v", told, want)
		}
		if err := d.Report("a name", 1); !errors.Is(err, deviceinfo.ErrValues) {
			t.Errorf("a name with a space: %v", err)
		}
	})
}
