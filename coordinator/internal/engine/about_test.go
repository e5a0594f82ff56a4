package engine

import (
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/deviceinfo"
)

// A member's last join says what the member tells about itself. The join changes nothing else about
// the member.
func TestAbout(t *testing.T) {
	c := newTestCore(t, chaintest.Plan(t), 3)
	join := func(tail []byte) deviceinfo.Device {
		known := wire.Known{Plan: wire.HashRecord(c.First).Tip()}
		r := wire.JoinRequest{Rest: append(known.Append(nil), tail...)}
		c.Step(1, Input{Kind: InJoin, ID: ids(3)[1], Token: "t", Frame: r.Append(nil)})
		list, _ := c.Devices(1)
		if list[0].About != (deviceinfo.Device{}) || list[2].About != (deviceinfo.Device{}) {
			t.Errorf("another device tells %+v, %+v", list[0].About, list[2].About)
		}
		return list[1].About
	}
	phone := deviceinfo.Device{Program: "pantry 1.4", Battery: 57, Power: deviceinfo.Charging}
	if got := join(phone.Append(nil)); got != phone {
		t.Errorf("got %+v, want %+v", got, phone)
	}
	if got := join(nil); got != (deviceinfo.Device{}) {
		t.Errorf("it tells nothing now, and is %+v", got)
	}
}

func first(list []report.Device, _ []presence.Times) []report.Device { return list }

// A member's record is the last record to which the member contributed.
func TestLastRecord(t *testing.T) {
	plan := chaintest.Plan(t)
	plan.Members, plan.Quorum, plan.Target = 3, 3, 3
	c := newTestCore(t, plan, 3)
	values := make([]float32, int(plan.Steps*plan.Perturbations))
	frames := contributions(c, 2, func(int) []float32 { return values })
	for i, frame := range frames {
		c.Step(1, Input{Kind: InReply, ID: ids(3)[i], Frame: frame})
	}
	for i, d := range first(c.Devices(1)) {
		if want := uint64(2); i < len(frames) && d.Record != want || i >= len(frames) && d.Record != 0 {
			t.Errorf("device %d contributed to record %d", i, d.Record)
		}
	}
}
